/** The document of the page, which its modules fill, and its mark. */
export const document = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>pawl</title>
    <link rel="icon" href="mark.svg" />
    <link rel="stylesheet" href="style.css" />
    <script type="module" src="main.js"></script>
  </head>
  <body>
    <header id="bar" class="bar" hidden>
      <span class="mark"><img src="mark.svg" alt="" width="26" height="26" />pawl</span>
      <nav aria-label="Pages">
        <a href="#/inbox">Inbox</a>
        <a href="#/runs">Runs</a>
      </nav>
      <div id="who" class="who"></div>
    </header>
    <p id="gone" class="gone" role="status" hidden></p>
    <main id="main"></main>
    <p id="said" class="said" role="status"></p>
  </body>
</html>
`;

export const mark = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#5b3fd6"/><path d="M6 23h4l3-6 1 6h4l3-6 1 6h4" fill="none" stroke="#fff" stroke-width="2.4" stroke-linejoin="round" stroke-linecap="round"/><path d="M25 8 13 14" stroke="#fff" stroke-width="2.8" stroke-linecap="round"/><circle cx="25" cy="8" r="2.6" fill="#fff"/></svg>
`;
