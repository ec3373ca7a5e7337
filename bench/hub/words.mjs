// The vocabulary of the catalog. It contains 4,000 words, which are always the same.
import { randomNumbers, skewedRanks } from '../shared/random.mjs';

const WORDS = 4000;
const ONSETS = 'r t s n l d m c p b k g f v h w st tr pl gr ch br cl sh fl qu th j z'.split(' ');
const VOWELS = 'e a o i u ea ai io ou ee'.split(' ');
const ENDS = ['', 'r', 'n', 's', 't', 'l', 'm', 'x', 'ck', 'nd', 'st', 'ng', 'p', 'd', 'ly'];

function vocabulary() {
  const random = randomNumbers(1);
  const from = (list) => {
    const rankOf = skewedRanks(list.length, 4);
    return () => list[rankOf(random) - 1];
  };
  const [onset, vowel, end] = [ONSETS, VOWELS, ENDS].map(from);
  const words = new Set();
  while (words.size < WORDS) {
    const syllables = Array.from({ length: random() < 0.5 ? 2 : 3 }, () => onset() + vowel());
    words.add(syllables.join('') + end());
  }
  return [...words];
}

const words = vocabulary();

const rankOfWord = skewedRanks(WORDS, 20);

/** A word of the vocabulary. The first word is 100 times as frequent as the word of rank 2,080. */
export const wordOf = (random) => words[rankOfWord(random) - 1];

const capitalized = (text) => text[0].toUpperCase() + text.slice(1);

/** The name and description of a template. */
export function textOf(number) {
  const random = randomNumbers(number);
  const phrase = (length) => Array.from({ length }, () => wordOf(random));
  const name = phrase(2).map(capitalized).join(' ');
  return { name, description: `${capitalized(phrase(12).join(' '))}.` };
}
