import { type LucideIcon, Menu as MenuIcon, Search } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { t } from '../../texts/texts.ts';
import { Button } from '../controls/Button.tsx';

interface NavItem {
  readonly href: string;
  readonly label: string;
  readonly icon: LucideIcon;
  /** A number that needs attention. */
  readonly count?: ReactNode;
}

export interface NavGroup {
  readonly label?: string;
  readonly items: readonly NavItem[];
}

/** The frame of a console: the navigation beside the page. */
export function Shell({
  name,
  mark: Mark,
  groups,
  user,
  onSearch,
  bands,
  children,
}: {
  readonly name: string;
  readonly mark: LucideIcon;
  readonly groups: readonly NavGroup[];
  readonly user: ReactNode;
  readonly onSearch: () => void;
  /** Messages for all pages. */
  readonly bands?: ReactNode;
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const [path] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new path closes the navigation on narrow screens
  useEffect(() => setOpen(false), [path]);
  useEffect(() => {
    if (!isOpen) return;
    const close = ({ key }: KeyboardEvent) => key === 'Escape' && setOpen(false);
    addEventListener('keydown', close);
    return () => removeEventListener('keydown', close);
  }, [isOpen]);
  const brand = (
    <Link href="/" className="brand">
      <span className="brand-mark">
        <Mark size={16} aria-hidden />
      </span>
      {name}
    </Link>
  );
  return (
    <div className="app">
      <a href="#main" className="skip">
        {t('Skip to the content')}
      </a>
      {isOpen && (
        <button
          type="button"
          className="backdrop"
          aria-label={t('Close the navigation')}
          onClick={() => setOpen(false)}
        />
      )}
      <aside className="sidebar" data-open={isOpen} aria-label={t('Sidebar')}>
        {brand}
        <button type="button" className="palette-trigger" onClick={onSearch}>
          <Search size={15} aria-hidden />
          {t('Search or go to…')}
          <kbd>{isMac ? '⌘' : t('Ctrl')} K</kbd>
        </button>
        <nav className="nav" aria-label={t('Main')}>
          {groups.map(({ label, items }) => (
            <div key={label ?? ''}>
              {label && <h2>{label}</h2>}
              <ul>
                {items.map((item) => (
                  <li key={item.href}>
                    <NavLink item={item} path={path} />
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        {user}
      </aside>
      <div className="content">
        <header className="topbar">
          <Button
            tone="ghost"
            icon={MenuIcon}
            label={t('Open the navigation')}
            aria-expanded={isOpen}
            onClick={() => setOpen(true)}
          />
          {brand}
          <Button tone="ghost" icon={Search} label={t('Search or go to')} onClick={onSearch} />
        </header>
        {bands}
        {children}
      </div>
    </div>
  );
}

const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);

function NavLink({
  item: { href, label, icon: Icon, count },
  path,
}: {
  readonly item: NavItem;
  readonly path: string;
}) {
  const isCurrent = href === '/' ? path === '/' : path === href || path.startsWith(`${href}/`);
  return (
    <Link href={href} aria-current={isCurrent ? 'page' : undefined}>
      <Icon size={16} aria-hidden />
      {label}
      {count !== undefined && <span className="count">{count}</span>}
    </Link>
  );
}
