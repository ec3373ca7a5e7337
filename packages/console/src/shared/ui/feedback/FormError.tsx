import { fieldErrorsOf } from '../../api/problem.ts';
import { ErrorView } from './states.tsx';

/**
 * The problem of a form, unless its fields show all of it. `shown` are the members that have a
 * field.
 */
export function FormError({ error, shown }: { readonly error: unknown; readonly shown: readonly string[] }) {
  if (error === null || error === undefined) return null;
  const errors = fieldErrorsOf(error);
  const others = errors.filter(({ path }) => !shown.some((one) => path === one || path.startsWith(`${one}.`)));
  if (errors.length > 0 && others.length === 0) return null;
  return (
    <div className="stack-small">
      <ErrorView error={error} />
      {others.length > 0 && (
        <ul className="small">
          {others.map(({ path, message }) => (
            <li key={path + message}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
