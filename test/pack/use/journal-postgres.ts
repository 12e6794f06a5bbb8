import { postgresJournal } from "@pawl/journal-postgres";

const nobody = "postgres://nobody@127.0.0.1:1/none";
const journal = postgresJournal({ url: nobody, patienceMs: 50, deadlineMs: 500 });
const said = await journal.claim("session:s", "a", 2).catch((thrown: unknown) => thrown);
console.log(said instanceof Error && "code" in said ? said.code : said);
await journal.close();
