import type { ConvertedSpec } from './application-spec.ts';

/** What a form calls the place of a message about an application. */
interface PlaceInSpec {
  /** The name of the part; undefined for the whole application. */
  readonly part: string | undefined;
  /** The path of the member in its part, or in the request; a variable by its name. */
  readonly path: string;
}

/** The place of a path such as `spec.parts.0.env.1.value`, in which a person knows the names and not the numbers. */
export function placeInSpec(path: string, { parts }: ConvertedSpec): PlaceInSpec {
  const [root, list, index = '', member = '', position = '', ...rest] = path.split('.');
  const part = root === 'spec' && list === 'parts' ? parts[Number(index)] : undefined;
  if (!part) return { part: undefined, path };
  const variable = member === 'env' ? part.env?.[Number(position)]?.name : undefined;
  if (variable !== undefined) return { part: part.name, path: `env.${variable}` };
  return { part: part.name, path: [member, position, ...rest].filter((each) => each !== '').join('.') };
}
