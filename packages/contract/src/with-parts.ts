/**
 * Replaces the generated parts of a page: the lines between `<!-- begin <name> -->` and `<!-- end <name> -->`.
 * @throws if the page has no place for a part
 */
export function withParts(file: string, page: string, parts: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(parts).reduce((text, [name, lines]) => {
    const [start, end] = [`<!-- begin ${name} -->\n`, `\n<!-- end ${name} -->`];
    const [from, to] = [text.indexOf(start), text.indexOf(end)];
    if (from === -1 || to < from) throw new Error(`${file} has no place for the table of ${name}`);
    return `${text.slice(0, from)}${start}${lines.join('\n')}${text.slice(to)}`;
  }, page);
}
