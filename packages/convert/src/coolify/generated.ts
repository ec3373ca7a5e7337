import type { GeneratedValue } from '../application.ts';
import { type Conversion, type Determined, Refused } from '../compose/context.ts';

type Form = Omit<GeneratedValue, 'name'>;

/** The values that the platform generates, by the kind in the name of the variable. */
export const FORMS: Readonly<Record<string, Form>> = {
  USER: { length: 16, format: 'text' },
  LOWERCASEUSER: { length: 16, format: 'hex' },
  PASSWORD: { length: 32, format: 'text' },
  PASSWORD_64: { length: 64, format: 'text' },
  PASSWORDWITHSYMBOLS: { length: 32, format: 'text' },
  PASSWORDWITHSYMBOLS_64: { length: 64, format: 'text' },
  // These are texts of letters and digits, in spite of their names.
  BASE64: { length: 32, format: 'text' },
  BASE64_32: { length: 32, format: 'text' },
  BASE64_64: { length: 64, format: 'text' },
  BASE64_128: { length: 128, format: 'text' },
  REALBASE64: { length: 32, format: 'base64' },
  REALBASE64_32: { length: 32, format: 'base64' },
  REALBASE64_64: { length: 64, format: 'base64' },
  REALBASE64_128: { length: 128, format: 'base64' },
  HEX_32: { length: 32, format: 'hex' },
  HEX_64: { length: 64, format: 'hex' },
  HEX_128: { length: 128, format: 'hex' },
};

const TOKENS = ['SUPABASEANON', 'SUPABASESERVICE'];

/**
 * What stands for a variable that the platform generates, such as `SERVICE_PASSWORD_64_APP`; undefined for another one.
 * @throws Refused
 */
export function generatedBy(conversion: Conversion, variable: string): Determined | undefined {
  const [, kind = ''] = /^SERVICE_([A-Z0-9]+(?:_\d+)?)_/.exec(variable) ?? [];
  if (TOKENS.includes(kind)) throw new Refused('has a token that the platform signs with another generated value');
  const form = Object.hasOwn(FORMS, kind) ? FORMS[kind] : undefined;
  if (!form) return undefined;
  return {
    kind: 'determined',
    placeholder: conversion.generate(variable.slice('SERVICE_'.length), form),
    ...(kind.startsWith('PASSWORDWITHSYMBOLS') && { harmless: 'generated_text' }),
  };
}
