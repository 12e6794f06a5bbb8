/** The vocabulary of narration, in English and Ukrainian. */

export interface Forms {
  readonly started: string;
  readonly completed: string;
  readonly failed: string;
}

export interface Words {
  readonly run: Forms;
  readonly verbs: { readonly [operation: string]: Forms };
  readonly file: { readonly [verb in "read" | "write" | "edit" | "delete" | "stat"]: Forms };
  readonly list: Forms;
  readonly grep: Forms;
  readonly todos: Forms;
  readonly fetch: Forms;
  readonly here: string;
  readonly for: string;
  readonly and: string;
  /** The text before the last `and` of a list. */
  readonly comma: string;
  readonly more: (count: number) => string;
}

const forms = (started: string, completed: string, failed: string): Forms => ({ started, completed, failed });

const deleting = forms("Deleting", "Deleted", "Failed to delete");
const copying = forms("Copying", "Copied", "Failed to copy");
const reading = forms("Reading", "Read", "Failed to read");

const english: Words = {
  run: forms("Running", "Ran", "Failed to run"),
  verbs: {
    create: forms("Creating", "Created", "Failed to create"),
    update: forms("Updating", "Updated", "Failed to update"),
    delete: deleting,
    destroy: deleting,
    copy: copying,
    clone: copying,
    duplicate: copying,
    list: forms("Listing", "Listed", "Failed to list"),
    get: reading,
    read: reading,
    set: forms("Setting", "Set", "Failed to set"),
    send: forms("Sending", "Sent", "Failed to send"),
  },
  file: {
    read: reading,
    write: forms("Writing", "Wrote", "Failed to write"),
    edit: forms("Editing", "Edited", "Failed to edit"),
    delete: deleting,
    stat: forms("Checking", "Checked", "Failed to check"),
  },
  list: forms("Listing files in", "Listed files in", "Failed to list files in"),
  grep: forms("Searching files", "Searched files", "Failed to search files"),
  todos: forms("Updating task list", "Updated task list", "Failed to update task list"),
  fetch: forms("Fetch URL", "Fetched URL", "Could not fetch URL"),
  here: "current directory",
  for: "for",
  and: "and",
  comma: ",",
  more: (count) => `${count} more actions`,
};

const deletingUk = forms("Видаляю", "Видалено", "Не вдалося видалити");
const copyingUk = forms("Копіюю", "Скопійовано", "Не вдалося скопіювати");
const readingUk = forms("Читаю", "Прочитано", "Не вдалося прочитати");

/** Picks the Ukrainian plural form for a count. */
const pluralUk = (count: number, [one, few, many]: readonly [string, string, string]): string => {
  const [tens, units] = [count % 100, count % 10];
  if (units === 1 && tens !== 11) return one;
  return units >= 2 && units <= 4 && (tens < 12 || tens > 14) ? few : many;
};

const ukrainian: Words = {
  run: forms("Виконую", "Виконано", "Не вдалося виконати"),
  verbs: {
    create: forms("Створюю", "Створено", "Не вдалося створити"),
    update: forms("Оновлюю", "Оновлено", "Не вдалося оновити"),
    delete: deletingUk,
    destroy: deletingUk,
    copy: copyingUk,
    clone: copyingUk,
    duplicate: copyingUk,
    list: forms("Перелічую", "Перелічено", "Не вдалося перелічити"),
    get: readingUk,
    read: readingUk,
    set: forms("Задаю", "Задано", "Не вдалося задати"),
    send: forms("Надсилаю", "Надіслано", "Не вдалося надіслати"),
  },
  file: {
    read: readingUk,
    write: forms("Записую", "Записано", "Не вдалося записати"),
    edit: forms("Редагую", "Відредаговано", "Не вдалося відредагувати"),
    delete: deletingUk,
    stat: forms("Перевіряю", "Перевірено", "Не вдалося перевірити"),
  },
  list: forms("Переглядаю файли в", "Переглянуто файли в", "Не вдалося переглянути файли в"),
  grep: forms("Шукаю у файлах", "Пошук у файлах завершено", "Не вдалося виконати пошук у файлах"),
  todos: forms("Оновлюю список завдань", "Список завдань оновлено", "Не вдалося оновити список завдань"),
  fetch: forms("Завантажую URL", "Завантажено URL", "Не вдалося завантажити URL"),
  here: "поточному каталозі",
  for: "за запитом",
  and: "і",
  comma: "",
  more: (count) => `ще ${count} ${pluralUk(count, ["дія", "дії", "дій"])}`,
};

export const wordsOf = (locale: string | undefined): Words => {
  const tag = locale?.toLowerCase() ?? "en";
  return tag === "uk" || tag.startsWith("uk-") || tag.startsWith("uk_") ? ukrainian : english;
};
