import { ChevronsUpDown } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { rich } from '../../texts/texts.ts';

const UserMenuPopup = lazy(() => import('./UserMenuPopup.tsx'));

const initialsOf = (name: string) =>
  name
    .split(/[\s@.]+/)
    .slice(0, 2)
    .map((part) => Array.from(part)[0]?.toUpperCase() ?? '')
    .join('');

/** The content of the button: who is signed in. */
export const UserLabel = ({ name, detail }: { readonly name: string; readonly detail: string }) => (
  <>
    <span className="avatar" aria-hidden>
      {initialsOf(name)}
    </span>
    <span className="grow">
      <span className="truncate strong small">
        {rich('<hidden>Account of</hidden> {name}', {
          hidden: (words) => <span className="visually-hidden">{words}</span>,
          name,
        })}
      </span>
      <span className="truncate muted small">{detail}</span>
    </span>
    <ChevronsUpDown size={15} aria-hidden />
  </>
);

interface UserMenuProps {
  readonly name: string;
  readonly detail: string;
  readonly onSignOut: () => void;
}

/**
 * Who is signed in, with a menu for the account, the theme and sign-out. Its code is loaded when it
 * is used first.
 */
export function UserMenu(props: UserMenuProps) {
  const [isUsed, setUsed] = useState(false);
  const button = (
    <button
      type="button"
      className="user-button"
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setUsed(true)}
    >
      <UserLabel name={props.name} detail={props.detail} />
    </button>
  );
  if (!isUsed) return button;
  return (
    <Suspense fallback={button}>
      <UserMenuPopup {...props} />
    </Suspense>
  );
}
