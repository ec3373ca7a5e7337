import { Link, useSearchParams } from 'wouter';

/** Tabs that are part of the address. */
export const useTab = <T extends string>(tabs: readonly { readonly id: T }[]): T | undefined => {
  const [search] = useSearchParams();
  return (tabs.find(({ id }) => id === search.get('tab')) ?? tabs[0])?.id;
};

export const Tabs = <T extends string>({
  label,
  tabs,
  current,
  path,
}: {
  readonly label: string;
  readonly tabs: readonly { readonly id: T; readonly label: string }[];
  readonly current: T | undefined;
  readonly path: string;
}) => (
  <nav className="tabs" aria-label={label}>
    {tabs.map(({ id, label: words }, index) => (
      <Link key={id} href={index === 0 ? path : `${path}?tab=${id}`} aria-current={id === current ? 'page' : undefined}>
        {words}
      </Link>
    ))}
  </nav>
);
