// The content that the conformance suite expects.
import { inputRequired } from '@modelcontextprotocol/server';

/** An image of one pixel, and a sound of no length. */
export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

export const text = (said: string) => ({ type: 'text' as const, text: said });
export const image = { type: 'image' as const, data: PIXEL, mimeType: 'image/png' };
export const audio = { type: 'audio' as const, data: SILENCE, mimeType: 'audio/wav' };
export const embedded = (uri: string, said: string, mimeType = 'text/plain') => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: said },
});

type Content = ReturnType<typeof text> | ReturnType<typeof embedded> | typeof image | typeof audio;
export const says = (...content: Content[]) => ({ content });

/** A form with one text, or one yes or no, for the user. */
export const askUser = (message: string, member: string, type: 'string' | 'boolean' = 'string') => {
  const properties = type === 'string' ? { [member]: { type } } : { [member]: { type } };
  return inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required: [member] } });
};

export const askModel = (question: string) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(question) }], maxTokens: 50 });
