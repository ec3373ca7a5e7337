import path from 'node:path';
import { defineConfig } from 'vite';
import { boundaries } from './build/boundaries.ts';
import { compressed } from './build/compressed.ts';
import { endpointTables } from './build/endpoint-tables.ts';
import { reloadIncomplete } from './build/reload-incomplete.ts';
import { templateControlTable } from './build/template-controls.ts';
import { texts } from './build/texts.ts';

interface Modules {
  getModuleInfo(id: string): { readonly isEntry: boolean; readonly importers: readonly string[] } | null;
}

/** Whether the entry point imports a module, directly or transitively. */
function isInitial(id: string, modules: Modules, seen: Set<string> = new Set()): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  const info = modules.getModuleInfo(id);
  return info !== null && (info.isEntry || info.importers.some((importer) => isInitial(importer, modules, seen)));
}

/**
 * Whether a module is small and belongs to the parts from which pages are built. As files of their own, such modules
 * would cost more for their headers than for their code.
 */
const isCommon = (id: string, modules: Modules) =>
  /\/src\/shared\/(?:routing|ui\/(?:controls|dialogs|feedback|lists|shell))\//.test(id) &&
  (modules.getModuleInfo(id)?.importers.length ?? 0) >= COMMON;

const COMMON = 3;

/** `--mode hub` and `--mode fleet` each build one console: a page and its hashed files. */
export default defineConfig(({ mode }) => ({
  root: path.join(import.meta.dirname, 'src', mode),
  base: '/',
  plugins: [endpointTables(), templateControlTable(), texts(), boundaries(), reloadIncomplete(), compressed()],
  // The build compiles all messages, so browsers do not load the parser.
  resolve: { alias: { '@formatjs/icu-messageformat-parser': '@formatjs/icu-messageformat-parser/no-parser.js' } },
  oxc: { jsx: { runtime: 'automatic' } },
  worker: { format: 'es' },
  build: {
    outDir: path.join(import.meta.dirname, 'dist', mode),
    emptyOutDir: true,
    target: 'baseline-widely-available',
    assetsInlineLimit: 0, // the content security policy allows data: URLs only for images
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    sourcemap: false,
    chunkSizeWarningLimit: 800,
    rolldownOptions: {
      // "use client" has no meaning without rendering on a server.
      checks: { moduleLevelDirective: false },
      output: {
        codeSplitting: {
          // Libraries are separate from the code of the console, so that a new release of the
          // console does not reload them.
          groups: [
            {
              name: 'vendor',
              test: /node_modules\/(react|react-dom|scheduler|@tanstack\/(react-)?query.*|wouter|regexparam|intl-messageformat|@formatjs\/.*)\//,
            },
            // What the page imports at first, and what most pages import, is one file.
            {
              name: (id, modules) => (isInitial(id, modules) || isCommon(id, modules) ? 'console' : undefined),
              debugName: 'console',
            },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': process.env.CONSOLE_API ?? 'http://127.0.0.1:4200' } },
}));
