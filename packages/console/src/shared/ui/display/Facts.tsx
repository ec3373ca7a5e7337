import type { ReactNode } from 'react';

/** A property in words, and its value. A value that is an element needs a key. */
export type Fact = readonly [term: string, value: ReactNode];

/** The properties of an object. */
export const Facts = ({ facts }: { readonly facts: readonly Fact[] }) => (
  <dl className="facts">
    {facts.map(([term, value]) => (
      <div key={term} className="contents">
        <dt>{term}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
