import { t } from '../../texts/texts.ts';

/**
 * Browsers by the part of the user agent that identifies them. Most name others too, so the order
 * matters.
 */
const browsers = [
  [/Edg\//, 'Edge'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(?:e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const;

const systems = [
  [/Windows/, 'Windows'],
  [/iPhone|iPad/, 'iOS'],
  [/Mac OS X/, 'macOS'],
  [/Android/, 'Android'],
  [/Linux/, 'Linux'],
] as const;

/** A user agent in few words, such as `Firefox on Linux`. */
export function browserOf(userAgent: string | null): string {
  const nameIn = (list: typeof browsers | typeof systems) =>
    list.find(([pattern]) => pattern.test(userAgent ?? ''))?.[1];
  const browser = nameIn(browsers);
  const system = nameIn(systems);
  if (browser === undefined) return t('Browser');
  return system === undefined ? browser : t('{browser} on {system}', { browser, system });
}
