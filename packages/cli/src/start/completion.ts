/** `pawl completion`: prints the script by which a shell completes the names of commands and options. */
import { type Command, commonOptions } from "../command.ts";
import { exit, usageError } from "../exit.ts";

/** A command that a shell completes: its words, and its options with their dashes. */
interface Entry {
  readonly words: readonly string[];
  readonly summary: string;
  readonly options: readonly { readonly flag: string; readonly what: string }[];
}

const entryOf = ({ name, summary, options }: Command): Entry => ({
  words: name.split(" "),
  summary,
  options: Object.entries({ ...options, ...commonOptions }).map(([option, { what }]) => ({
    flag: `--${option}`,
    what,
  })),
});

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Groups commands of two words, as `log export`, under their first word. */
const families = (entries: readonly Entry[]): ReadonlyMap<string, readonly Entry[]> =>
  Map.groupBy(
    entries.filter(({ words }) => words.length === 2),
    ({ words }) => words[0] as string,
  );

const firstWords = (entries: readonly Entry[]): readonly string[] => [
  ...new Set([...entries.map(({ words }) => words[0] as string), "help"]),
];

const bash = (entries: readonly Entry[]): string => {
  const second = [...families(entries)].map(
    ([word, all]) => `    ${word}) words=${quoted(all.map(({ words }) => words[1]).join(" "))} ;;`,
  );
  const flags = entries.map(
    ({ words, options }) =>
      `    ${quoted(`${words.join(" ")} `)}*) words=${quoted(options.map(({ flag }) => flag).join(" "))} ;;`,
  );
  return [
    "# bash completion of pawl. In ~/.bashrc: source <(pawl completion bash)",
    "_pawl() {",
    `  local word="\${COMP_WORDS[COMP_CWORD]}" said="\${COMP_WORDS[*]:1:COMP_CWORD-1} " words=''`,
    "  if ((COMP_CWORD == 1)); then",
    `    words=${quoted(firstWords(entries).join(" "))}`,
    "  elif ((COMP_CWORD == 2)) && [[ $word != -* ]]; then",
    `    case "\${COMP_WORDS[1]}" in`,
    ...second,
    "    esac",
    "  elif [[ $word == -* ]]; then",
    '    case "$said" in',
    ...flags,
    "    esac",
    "  fi",
    '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
    `  [[ -n $words ]] || { local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$word")); }`,
    "}",
    "complete -o filenames -F _pawl pawl",
  ].join("\n");
};

/** Writes a word with its description, as zsh's `_describe` takes them. */
const described = (word: string, what: string): string => quoted(`${word.replaceAll(":", "\\:")}:${what}`);

const zsh = (entries: readonly Entry[]): string => {
  const alone = entries.filter(({ words }) => words.length === 1);
  const first = [
    ...alone.map(({ words, summary }) => described(words.join(" "), summary)),
    ...[...families(entries)].map(([word, all]) => described(word, all.map(({ words }) => words[1]).join(", "))),
    described("help", "Show the options and examples of a command"),
  ];
  const second = [...families(entries)].map(
    ([word, all]) =>
      `    ${word}) found=(${all.map(({ words, summary }) => described(words[1] as string, summary)).join(" ")}) ;;`,
  );
  const flags = entries.map(
    ({ words, options }) =>
      `    ${quoted(`${words.join(" ")} `)}*) found=(${options.map(({ flag, what }) => described(flag, what)).join(" ")}) ;;`,
  );
  return [
    "#compdef pawl",
    "# zsh completion of pawl. In ~/.zshrc, after compinit: source <(pawl completion zsh)",
    "_pawl() {",
    '  local -a found; local said="${words[2,CURRENT-1]} "',
    "  if ((CURRENT == 2)); then",
    `    found=(${first.join(" ")})`,
    "  elif ((CURRENT == 3)) && [[ $words[CURRENT] != -* ]]; then",
    '    case "$words[2]" in',
    ...second,
    "    esac",
    "  elif [[ $words[CURRENT] == -* ]]; then",
    '    case "$said" in',
    ...flags,
    "    esac",
    "  fi",
    "  if ((${#found})); then _describe pawl found; else _files; fi",
    "}",
    "compdef _pawl pawl",
  ].join("\n");
};

const fish = (entries: readonly Entry[]): string => {
  const names = firstWords(entries).join(" ");
  const lines = entries.flatMap(({ words: [first = "", second], summary, options }) => {
    const isAfter = [first, ...(second === undefined ? [] : [second])]
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join("; and ");
    const offered =
      second === undefined
        ? `-n "not __fish_seen_subcommand_from ${names}" -a ${first} -d ${quoted(summary)}`
        : `-n "__fish_seen_subcommand_from ${first}" -a ${second} -d ${quoted(summary)}`;
    return [
      `complete -c pawl ${offered}`,
      ...options.map(({ flag, what }) => `complete -c pawl -n "${isAfter}" -l ${flag.slice(2)} -d ${quoted(what)}`),
    ];
  });
  const heads = [...families(entries)].map(
    ([word, all]) =>
      `complete -c pawl -n "not __fish_seen_subcommand_from ${names}" -a ${word} -d ${quoted(all.map(({ words }) => words[1]).join(", "))}`,
  );
  return ["# fish completion of pawl. In config.fish: pawl completion fish | source", ...heads, ...lines].join("\n");
};

const shells: { readonly [name: string]: (entries: readonly Entry[]) => string } = { bash, zsh, fish };
const shellNames = Object.keys(shells).join(", ");

/** Makes the command. It is given the list of all commands, which are loaded only when it runs. */
export const completionCommand = (allCommands: () => Promise<readonly Command[]>): Command => ({
  name: "completion",
  summary: "Print the script by which a shell completes commands and options",
  usage: "<shell>",
  minArgs: 1,
  maxArgs: 1,
  options: {},
  json: [{ what: "The script", fields: "shell, script" }],
  examples: [
    ["pawl completion bash", "as `source <(pawl completion bash)` in ~/.bashrc; zsh likewise, after compinit"],
    ["pawl completion fish", "as `pawl completion fish | source` in ~/.config/fish/config.fish"],
  ],
  run: async ({ positionals: [shell = ""] }, terminal) => {
    const write = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
    if (write === undefined)
      throw usageError(`expected one of ${shellNames}, found \`${shell}\``, "pawl help completion");
    const script = write((await allCommands()).map(entryOf));
    terminal.print({ shell, script }, () => script.split("\n"));
    return exit.fine;
  },
});
