/** The languages of the console, each with its own name. English is the language of the code. */
export const languages = { en: 'English', de: 'Deutsch' } as const;

export type Language = keyof typeof languages;

const KEY = 'language';

const isLanguage = (value: string | null): value is Language => value !== null && Object.hasOwn(languages, value);

/** The first of the preferred languages that exists, with its region. */
function preferred(tags: readonly string[]): { readonly language: Language; readonly locale: string } {
  for (const locale of tags) {
    const [language = ''] = locale.toLowerCase().split('-');
    if (isLanguage(language)) return { language, locale };
  }
  return { language: 'en', locale: 'en' };
}

const stored = localStorage.getItem(KEY);
const chosen = isLanguage(stored) ? stored : undefined;

/**
 * The language of the texts, and the locale of dates, numbers and lists. The choice of the user
 * precedes the languages of the browser, whose region is kept.
 */
export const { language, locale } =
  chosen === undefined
    ? preferred(navigator.languages)
    : preferred([...navigator.languages.filter((tag) => tag.toLowerCase().split('-')[0] === chosen), chosen]);

/** Stores the choice of the user. The page is loaded again, because texts are read once. */
export function chooseLanguage(language: Language): void {
  localStorage.setItem(KEY, language);
  location.reload();
}
