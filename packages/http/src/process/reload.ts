import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Log } from '../observe/log.ts';
import { certificatesIn, type ReadSettings, SettingsError } from './settings.ts';

/** Settings that were read again while the process runs. */
export interface ChangedSettings<C> {
  readonly before: C;
  readonly after: C;
  /** Whether a setting has another value, or a file that it names another content. */
  has(name: keyof C & string): boolean;
}

interface ReloadOptions<C> {
  readonly log: Log;
  /** The settings in effect. */
  readonly initial: ReadSettings<C>;
  /** Reads the settings again. @throws SettingsError */
  readonly read: () => ReadSettings<C>;
  /**
   * Checks what the settings refer to, without a change. @returns a function that puts the settings
   * into effect; it must not fail @throws SettingsError or another error with a sentence for operators
   */
  readonly prepare: (changed: ChangedSettings<C>) => Promise<() => void>;
}

/** Whether SIGHUP was received before `reloadOnHangUp`, and what handles it. */
const hangUps: { isPending: boolean; handle: (() => void) | undefined } = { isPending: false, handle: undefined };

/** From now on, SIGHUP does not end the process. */
export function acceptHangUps(): void {
  process.on('SIGHUP', () => {
    if (hangUps.handle) hangUps.handle();
    else hangUps.isPending = true;
  });
}

/**
 * Reads the files of the settings again on each SIGHUP, also on one that was received before. All
 * settings change or none; the log states what is wrong. Before it, `acceptHangUps` must be called.
 */
export function reloadOnHangUp<C extends object>(options: ReloadOptions<C>): void {
  let inEffect = options.initial;
  let running: Promise<void> | undefined;
  const reload = async () => {
    inEffect = await replaced(options, inEffect);
  };
  const handle = () => {
    hangUps.isPending = running !== undefined;
    running ??= reload().finally(() => {
      running = undefined;
      if (hangUps.isPending) handle();
    });
  };
  hangUps.handle = handle;
  if (hangUps.isPending) handle();
}

/** Replaces the settings in effect if those in the files are valid. @returns the settings in effect */
async function replaced<C>(
  { log, read, prepare }: ReloadOptions<C>,
  before: ReadSettings<C>,
): Promise<ReadSettings<C>> {
  try {
    const after = read();
    const changed = changedNames(before.files, after.files);
    const trust = changed.includes(AUTHORITIES) ? trusting(after.files.get(AUTHORITIES) ?? '') : () => undefined;
    const apply = await prepare({
      before: before.settings,
      after: after.settings,
      has: (name) => changed.includes(name),
    });
    trust();
    apply();
    log.info({ changed }, 'the files of the settings were read again');
    return after;
  } catch (error) {
    const reasons =
      error instanceof SettingsError ? error.errors : [error instanceof Error ? error.message : String(error)];
    log.error({ reasons }, 'the files of the settings were read again, and nothing was changed');
    return before;
  }
}

/** @throws SettingsError for settings that were added or removed, so that an empty file removes no protection */
function changedNames(before: ReadSettings<unknown>['files'], after: ReadSettings<unknown>['files']): string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  const unequal = names.filter((name) => before.has(name) !== after.has(name));
  if (unequal.length > 0)
    throw new SettingsError(
      unequal.map(
        (name) => `${name}: ${after.has(name) ? 'is set now' : 'its file is empty'}. A restart is needed for that`,
      ),
    );
  return names.filter((name) => before.get(name) !== after.get(name));
}

/** The setting with the file of certificate authorities. */
const AUTHORITIES = 'NODE_EXTRA_CA_CERTS';

/** A function that makes new connections trust the authorities of a file, instead of those of the file before. */
function trusting(file: string): () => void {
  others ??= otherAuthorities();
  return () => setDefaultCACertificates([...(others ?? []), ...certificatesIn(file)]);
}

/** The authorities that are trusted whatever the file contains. */
let others: readonly string[] | undefined;

/** Those of Node, and of the machine if Node uses them. The file can contain some of them as well. */
function otherAuthorities(): string[] {
  const ofNode = new Set(getCACertificates('bundled').map(contentOf));
  const ofFile = new Set(getCACertificates('extra').map(contentOf));
  return getCACertificates('default').filter((each) => ofNode.has(contentOf(each)) || !ofFile.has(contentOf(each)));
}

/** A certificate in PEM format without line breaks, which differ. */
const contentOf = (certificate: string) => certificate.replace(/\s/g, '');
