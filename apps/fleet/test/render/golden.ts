import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

const HINT =
  'If this is what should be rendered now: RENEW_GOLDEN=1 npm test -- test/render/golden, `biome format --write` ' +
  'apps/fleet/test/render/golden, and read the difference before you commit it. Everything that runs sees the change.';

/**
 * Compares a rendering with a file under `golden/`. With RENEW_GOLDEN=1, a file that differs is
 * rewritten.
 */
export function assertGolden(name: string, rendered: unknown): void {
  const file = new URL(`golden/${name}.json`, import.meta.url);
  const golden: unknown = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
  if (isDeepStrictEqual(rendered, golden)) return;
  if (process.env.RENEW_GOLDEN === '1') {
    writeFileSync(file, `${JSON.stringify(rendered, null, 2)}\n`);
    return;
  }
  try {
    expect(rendered).toStrictEqual(golden);
  } catch (difference) {
    throw new Error(`golden/${name}.json differs. ${HINT}\n\n${difference}`);
  }
}
