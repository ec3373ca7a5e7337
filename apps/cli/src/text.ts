/**
 * Control characters other than tab and newline, and characters that change the direction or the
 * order of the text around them. A terminal would obey them, or show another text.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that it finds
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Colours and other attributes of text on a terminal, which are left out. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it begins with a control character
const COLOURS = /\u001b\[[\d;:]{0,40}m/g;

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** A text with its control characters as escape sequences of JSON. Tabs and newlines remain. */
export const visible = (text: string): string => text.replace(CONTROL, escaped);

/** As `visible`, on one line. */
export const oneLine = (text: string): string => visible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');

/** A line of a log, without colours and control characters. */
export const logLine = (line: string): string => visible(line.replace(COLOURS, ''));

/** Whether `visible` changes a text. */
export const hasControl = (text: string): boolean => visible(text) !== text;
