import { isStudioPath, studioHandler, studioPath } from "@pawl/studio";

const at = (file: string): Promise<Response> => studioHandler(new Request(`http://host${studioPath}${file}`));
const [page, script] = [await at(""), await at("main.js")];
if (!isStudioPath(studioPath) || !(await script.text()).includes("./api.js")) throw new Error("the page is not whole");
console.log(page.status, page.headers.get("content-type"), script.status);
