import type { ZxcvbnFactory } from '@zxcvbn-ts/core';

const MIN_CHARACTERS = 8;
const MAX_CHARACTERS = 1024;

/** Of four: below, a password falls to a guesser who knows lists and the person (zxcvbn: fewer than 10^6 guesses). */
const MIN_SCORE = 2;

/** Its time grows faster than the text: what an estimate is for is seen in the first characters. */
const MAX_ESTIMATED = 128;

/**
 * Why a password, normalised, is no good, as a sentence for the person who chose it; undefined when it is good. `about`:
 * what everybody knows of the person, such as the e-mail address and the name.
 */
export async function refuseObvious(password: string, about: readonly string[]): Promise<string | undefined> {
  const length = [...password].length;
  if (length < MIN_CHARACTERS) return `must have at least ${MIN_CHARACTERS} characters`;
  if (length > MAX_CHARACTERS) return `must have at most ${MAX_CHARACTERS} characters`;
  const { score } = (await estimator()).check(start(password), wordsOf(about));
  return score < MIN_SCORE
    ? 'is too easy to guess: use a longer one, or some words that have nothing to do with you'
    : undefined;
}

const start = (text: string) => [...text].slice(0, MAX_ESTIMATED).join('');

/** The estimate knows whole words only: each text, what is before and after the @ of an address, and each word of them. */
const wordsOf = (about: readonly string[]) =>
  about
    .map(start)
    .flatMap((text) => [text, ...text.split('@'), ...text.split(/[^\p{L}\p{N}]+/u)])
    .filter((word) => word !== '');

let loading: Promise<ZxcvbnFactory> | undefined;

/** The dictionaries take a tenth of a second and some megabytes: they are read when somebody chooses a password, once. */
function estimator(): Promise<ZxcvbnFactory> {
  loading ??= load();
  return loading;
}

async function load(): Promise<ZxcvbnFactory> {
  const [core, common] = await Promise.all([import('@zxcvbn-ts/core'), import('@zxcvbn-ts/language-common')]);
  return new core.ZxcvbnFactory({ dictionary: common.dictionary, graphs: common.adjacencyGraphs });
}
