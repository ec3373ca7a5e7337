import { writeFile } from 'node:fs/promises';
import { type Either, eitherOf, reply } from '../api.ts';
import { exitCodes } from '../errors.ts';
import type { Action, Common } from '../invocation.ts';
import { print, tell } from '../output.ts';
import { visible } from '../text.ts';

export const doctor: Action = async (_, options) => {
  const { report } = await runDoctor(await eitherOf(options));
  await print(report, {
    format: options.output,
    as: () =>
      [
        `${report.service} ${report.version}`,
        ...report.checks.flatMap(({ name, state, found, remedy }) => [
          `${state.padEnd(8)} ${name}: ${found}`,
          ...(remedy === undefined ? [] : [`         → ${remedy}`]),
        ]),
      ].join('\n'),
  });
  return report.healthy ? exitCodes.done : exitCodes.failed;
};

const runDoctor = (either: Either) =>
  either.service === 'fleet'
    ? reply(either.client.POST('/api/v1/doctor'))
    : reply(either.client.POST('/api/v1/admin/doctor'));

const createBundle = (either: Either) =>
  either.service === 'fleet'
    ? reply(either.client.POST('/api/v1/support-bundle'))
    : reply(either.client.POST('/api/v1/admin/support-bundle'));

interface BundleOptions extends Common {
  readonly file?: string;
}

/** Stores a support bundle in a file that only the user can read. */
export const supportBundle: Action<BundleOptions> = async (_, { file, ...options }) => {
  const { bundle } = await createBundle(await eitherOf(options));
  const text = `${visible(JSON.stringify(bundle, null, 2))}\n`;
  if (file === '-') {
    process.stdout.write(text);
    return undefined;
  }
  const name = file ?? `svc-${bundle.service}-${bundle.created_at.replace(/[^\d]/g, '').slice(0, 14)}.json`;
  await writeFile(name, text, { mode: 0o600, flag: 'wx' });
  await print(
    { file: name, content: bundle.content },
    {
      format: options.output,
      as: () => ({
        columns: ['MEMBER', 'CONTENT'],
        rows: bundle.content.map(({ member, description }) => [member, description]),
      }),
    },
  );
  tell(`The bundle is in ${name}. Read it before you send it to somebody.`);
  return undefined;
};
