import { Ellipsis, type LucideIcon } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';

const MenuPopup = lazy(() => import('./MenuPopup.tsx'));

export interface MenuAction {
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly onSelect: () => void;
  readonly opensDialog?: boolean;
  readonly isPending?: boolean;
  readonly isDangerous?: boolean;
  /** Why the user cannot use the action. */
  readonly blocked?: string | undefined;
  readonly startsGroup?: boolean;
}

/**
 * The button of a menu before its first use, which is much cheaper than a menu: a list has one in
 * each row.
 */
export const MenuButton = ({ label, onClick }: { readonly label: string; readonly onClick?: () => void }) => (
  <button
    type="button"
    className="button ghost icon small"
    aria-haspopup="menu"
    aria-expanded={false}
    aria-label={label}
    title={label}
    onClick={onClick}
  >
    <Ellipsis size={16} aria-hidden />
  </button>
);

/** A menu of actions. Its code is loaded when it is used first. */
export function Menu({
  label,
  actions,
  isOpen = false,
}: {
  readonly label: string;
  readonly actions: readonly MenuAction[];
  /** The menu is open at first. */
  readonly isOpen?: boolean;
}) {
  const [isUsed, setUsed] = useState(isOpen);
  if (!isUsed) return <MenuButton label={label} onClick={() => setUsed(true)} />;
  return (
    <Suspense fallback={<MenuButton label={label} />}>
      <MenuPopup label={label} actions={actions} />
    </Suspense>
  );
}
