import { type ApplicationInput, type FieldError, inputProblem, inputText, nearestName } from '@svc/contract';
import { z } from 'zod';

const secretForm = z.union([
  z.object({ secret: z.string(), key: z.string().optional() }),
  z.object({ deployment: z.string(), variable: z.string() }),
]);

/** The inputs that a request gives, as a generation stores them: values, and references to secrets. */
export const storedInputs = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), secretForm]));
export type Inputs = Readonly<z.output<typeof storedInputs>>;

/** What stands for an input: text, or a reference to a secret value. */
type InputValue = string | z.output<typeof secretForm>;

/** What is wrong with the inputs of a request. */
export function inputProblems(declared: readonly ApplicationInput[], given: Inputs): FieldError[] {
  const names = declared.map(({ name }) => name);
  const unknown = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => ({ path: `inputs.${name}`, message: `is not an input of the application${hint(name, names)}` }));
  return [...unknown, ...declared.flatMap((input) => problemOf(input, givenValue(given, input.name)))];
}

function problemOf(input: ApplicationInput, value: Inputs[string] | undefined): FieldError[] {
  const path = `inputs.${input.name}`;
  if (value === undefined) return input.required && input.default === null ? [{ path, message: 'is required' }] : [];
  if (input.type === 'secret' && typeof value === 'object') return [];
  const message = inputProblem(input, value);
  return message === undefined ? [] : [{ path, message }];
}

function hint(name: string, names: readonly string[]): string {
  const nearest = nearestName(name, names);
  if (nearest !== undefined) return `; did you mean ${nearest}?`;
  return names.length === 0 ? ', which has none' : `, which has ${names.join(', ')}`;
}

const givenValue = (given: Inputs, name: string): Inputs[string] | undefined =>
  Object.hasOwn(given, name) ? given[name] : undefined;

/** What stands for each input: the given value, or its default. An optional input without both is the empty text. */
export const inputValues = (declared: readonly ApplicationInput[], given: Inputs): ReadonlyMap<string, InputValue> =>
  new Map(
    declared.map((input) => {
      const value = givenValue(given, input.name) ?? input.default ?? '';
      return [input.name, typeof value === 'object' ? value : inputText(value)];
    }),
  );
