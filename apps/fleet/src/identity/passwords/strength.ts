import type { ZxcvbnFactory } from '@zxcvbn-ts/core';

const MIN_CHARACTERS = 8;
const MAX_CHARACTERS = 1024;

/**
 * The minimum score of zxcvbn, from 0 to 4. A lower score means that fewer than 10^6 guesses are
 * sufficient.
 */
const MIN_SCORE = 2;

/**
 * The number of characters that are estimated. The estimate blocks the event loop, and its time
 * grows faster than linearly with the length (decision 22).
 */
const MAX_ESTIMATED = 32;

/** The number of characters of each text about the user that are considered. */
const MAX_ABOUT = 128;

/**
 * The password in the normalization form NFKC, as NIST SP 800-63B recommends. Keyboards produce
 * different characters for the same password: `é` is one or two code points, and a Japanese
 * keyboard can produce a full-width `Ａ`.
 */
export const normalised = (password: string): string => password.normalize('NFKC');

/**
 * The reason to reject a password, as text for the user; undefined if it is accepted. `about`
 * contains what is known of the user, such as the e-mail address and the name.
 */
export async function findWeakness(given: string, about: readonly string[]): Promise<string | undefined> {
  const password = normalised(given);
  const length = [...password].length;
  if (length < MIN_CHARACTERS) return `must have at least ${MIN_CHARACTERS} characters`;
  if (length > MAX_CHARACTERS) return `must have at most ${MAX_CHARACTERS} characters`;
  const { score } = (await estimator()).check(beginningOf(password), wordsOf(about));
  return score < MIN_SCORE
    ? 'is too easy to guess: use a longer password, or several words that are unrelated to you'
    : undefined;
}

const beginningOf = (text: string, characters = MAX_ESTIMATED) => [...text].slice(0, characters).join('');

/**
 * The words that zxcvbn must not find, since it compares whole words: each text, both parts of an
 * e-mail address, and each word. They are as short as the estimated part of the password.
 */
const wordsOf = (about: readonly string[]) =>
  about
    .map((text) => beginningOf(text, MAX_ABOUT))
    .flatMap((text) => [text, ...text.split('@'), ...text.split(/[^\p{L}\p{N}]+/u)])
    .map((word) => beginningOf(word))
    .filter((word) => word !== '');

let loading: Promise<ZxcvbnFactory> | undefined;

/**
 * The estimator. Its dictionaries need 100 ms and several megabytes, so they are loaded once, when
 * the first password is set.
 */
function estimator(): Promise<ZxcvbnFactory> {
  loading ??= load();
  return loading;
}

async function load(): Promise<ZxcvbnFactory> {
  const [core, common] = await Promise.all([import('@zxcvbn-ts/core'), import('@zxcvbn-ts/language-common')]);
  return new core.ZxcvbnFactory({ dictionary: common.dictionary, graphs: common.adjacencyGraphs });
}
