import { useState } from 'react';
import { fieldErrorsOf } from '../../api/problem.ts';

/**
 * Moves the focus to the control of a member, such as `addresses.mesh`, or to the first one in it. A
 * member without a control stands for the one that contains it.
 */
export function focusField(path: string): void {
  const form = document.querySelector('dialog[open]') ?? document.querySelector('main');
  const controls = [...(form?.querySelectorAll<HTMLInputElement>('[name]') ?? [])];
  const found = controls.find(({ name }) => name === path) ?? controls.find(({ name }) => isIn(path, name));
  if (!found) {
    if (path.includes('.')) focusField(path.slice(0, path.lastIndexOf('.')));
    return;
  }
  found.closest('details')?.setAttribute('open', '');
  found.scrollIntoView({ block: 'center' });
  found.focus();
}

/** Whether `path` is that of a member, or of a member in it. */
const isIn = (member: string, path: string) => path === member || path.startsWith(`${member}.`);

/**
 * The values of a form. The service validates them: its problem document names the invalid members,
 * and `errorAt` returns the message for a field. A change of a field removes the messages of the
 * member with its name, and of the members in it.
 */
export function useForm<V extends object>(initial: V | (() => V)) {
  const [values, setValues] = useState<V>(initial);
  const [changed, setChanged] = useState<{ readonly error: unknown; readonly paths: ReadonlySet<string> }>({
    error: undefined,
    paths: new Set(),
  });
  const set = <K extends keyof V & string>(name: K, value: V[K]) => {
    setValues((current) => ({ ...current, [name]: value }));
    setChanged(({ error, paths }) => ({ error, paths: new Set([...paths, name]) }));
  };
  return {
    values,
    set,
    /** The properties of a text field. */
    bind: <K extends keyof V & string>(name: K) => ({
      name,
      value: values[name],
      onChange: (value: V[K]) => set(name, value),
    }),
    reset: (next: V) => setValues(next),
    /** The message for a member in the problem document of the last request. */
    errorsOf: (error: unknown) => {
      if (changed.error !== error) setChanged({ error, paths: new Set() });
      const messages = fieldErrorsOf(error);
      return (...paths: readonly string[]): string | undefined => {
        const hidden =
          changed.error === error && paths.some((path) => [...changed.paths].some((one) => isIn(one, path)));
        if (hidden) return undefined;
        return messages.find(({ path }) => paths.some((one) => isIn(one, path)))?.message;
      };
    },
  };
}

export type Form<V extends object> = ReturnType<typeof useForm<V>>;

/**
 * The values of a form for an object that others can change meanwhile. A field that the user has
 * not changed follows the object, and a field that the user has changed keeps its input.
 */
export function useEdits<V extends object>(current: V) {
  const form = useForm<Partial<V>>({});
  const values: V = { ...current, ...form.values };
  return {
    values,
    set: form.set,
    bind: <K extends keyof V & string>(name: K) => ({
      name,
      value: values[name],
      onChange: (value: V[K]) => form.set(name, value),
    }),
    /** Removes the input, so that all fields show the object. */
    discard: () => form.reset({}),
    errorsOf: form.errorsOf,
  };
}
