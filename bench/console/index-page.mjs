import fs from 'node:fs';
import path from 'node:path';

const HEAD = `# Screenshots of the consoles

\`pnpm console:screenshots\` writes the screenshots of all pages, and this page, into this folder. The product runs with simulated hosts. The
screenshots are for people, for example to compare two versions, and are part of [the comparison with other products](../console.md). Tests do
not read them.
`;

/** Writes a page that links all screenshots. */
export function writeIndex(folder, views) {
  const rows = (service) =>
    views
      .filter((view) => view.service === service)
      .map(({ name, title, isMain = false }) => {
        const link = (size, scheme) => `[${scheme}](${service}-${name}-${size}-${scheme}.webp)`;
        const links = (size) => `${link(size, 'light')}, ${link(size, 'dark')}`;
        return `| ${title} | ${links('desktop')} | ${isMain ? links('phone') : ''} |`;
      })
      .join('\n');
  const table = (service) => `| page | desktop | phone |\n|---|---|---|\n${rows(service)}\n`;
  const text = `${HEAD}\n## Fleet\n\n${table('fleet')}\n## Hub\n\n${table('hub')}`;
  fs.writeFileSync(path.join(folder, 'README.md'), text);
}
