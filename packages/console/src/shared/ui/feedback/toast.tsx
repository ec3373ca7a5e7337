import { lazy, Suspense, useEffect, useState } from 'react';

const ToastList = lazy(() => import('./ToastList.tsx'));

const waiting: string[] = [];
let notify: (() => void) | undefined;

/** Confirms a change that the user made. Errors are shown where they happened, never here. */
export const confirmChange = (title: string): void => {
  waiting.push(title);
  notify?.();
};

const take = () => waiting.splice(0);

/** Shows the confirmations. Its code is loaded with the first one. */
export function Toasts() {
  const [count, setCount] = useState(0);
  useEffect(() => {
    notify = () => setCount((current) => current + 1);
    return () => {
      notify = undefined;
    };
  }, []);
  if (count === 0) return null;
  return (
    <Suspense>
      <ToastList count={count} take={take} />
    </Suspense>
  );
}
