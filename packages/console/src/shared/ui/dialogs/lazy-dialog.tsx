import { type ComponentType, lazy, type ReactNode, Suspense } from 'react';

/** A dialog whose code is loaded when it opens first. */
export function lazyDialog<P extends object>(
  load: () => Promise<{ readonly default: (props: P) => ReactNode }>,
): (props: P) => ReactNode {
  // lazy() keeps the properties of the component.
  const Loaded = lazy(load) as unknown as ComponentType<P>;
  return (props) => (
    <Suspense>
      <Loaded {...props} />
    </Suspense>
  );
}
