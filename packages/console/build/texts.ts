import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from '@formatjs/icu-messageformat-parser';
import type { Plugin } from 'vite';

const PREFIX = '\0virtual:texts/';
const folder = path.join(import.meta.dirname, '..', 'src', 'locales');

/**
 * The catalogues of `src/locales`. Messages with plurals or elements are compiled, so that browsers
 * need no compiler. Other texts of English are left out: they are in the code.
 */
export const texts = (): Plugin => ({
  name: 'texts',
  resolveId: (id) => (`\0${id}`.startsWith(PREFIX) ? `\0${id}` : undefined),
  load(id) {
    if (!id.startsWith(PREFIX)) return undefined;
    const language = id.slice(PREFIX.length);
    const file = path.join(folder, `${language}.json`);
    this.addWatchFile(file);
    const catalogue: Readonly<Record<string, string>> = JSON.parse(readFileSync(file, 'utf8'));
    const compiled = Object.entries(catalogue)
      .filter(([text, message]) => message !== '' && (language !== 'en' || isCompiled(text)))
      .map(([text, message]) => [text, isCompiled(message) ? parse(message) : message]);
    return `export default ${JSON.stringify(Object.fromEntries(compiled))};`;
  },
});

const isCompiled = (message: string) => /\{\w+,|</.test(message);
