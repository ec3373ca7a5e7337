/**
 * Replaces the generated tables of a page, by their names.
 * @throws if the page has no place for a table
 */
export function replaceTables(file: string, page: string, tables: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(tables).reduce((text, [name, lines]) => {
    const start = `<!-- begin ${name} -->\n`;
    const from = text.indexOf(start);
    const to = text.indexOf(`\n<!-- end ${name} -->`);
    if (from === -1 || to < from) throw new Error(`${file} has no place for the table of ${name}`);
    return `${text.slice(0, from)}${start}${lines.join('\n')}${text.slice(to)}`;
  }, page);
}
