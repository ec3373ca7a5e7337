import { LoaderCircle, type LucideIcon } from 'lucide-react';
import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { Link } from 'wouter';

interface Look {
  readonly tone?: 'primary' | 'danger' | 'danger-primary' | 'ghost' | undefined;
  readonly size?: 'small' | undefined;
  readonly icon?: LucideIcon | undefined;
}

const classOf = ({ tone, size }: Look, isIconOnly: boolean) =>
  ['button', tone === 'danger-primary' ? 'danger primary' : tone, size, isIconOnly ? 'icon' : undefined]
    .filter((name) => name !== undefined)
    .join(' ');

/**
 * A button. `blocked` is the reason why the user cannot use it: the button stays focusable, and
 * shows the reason on hover and on focus.
 */
export function Button({
  tone,
  size,
  icon: Icon,
  blocked,
  pending = false,
  children,
  label,
  onClick,
  type = 'button',
  ...rest
}: Look & {
  readonly blocked?: string | undefined;
  readonly pending?: boolean;
  readonly children?: ReactNode;
  /** The accessible name, if it is not `children`. */
  readonly label?: string;
} & Pick<
    ButtonHTMLAttributes<HTMLButtonElement>,
    'onClick' | 'type' | 'id' | 'aria-pressed' | 'aria-expanded' | 'aria-haspopup'
  >) {
  const isOff = blocked !== undefined || pending;
  return (
    <button
      {...rest}
      type={type}
      className={classOf({ tone, size }, children === undefined)}
      aria-label={label}
      title={children === undefined ? label : undefined}
      aria-disabled={isOff || undefined}
      aria-description={blocked}
      data-blocked={blocked}
      onClick={(event) => {
        if (isOff) event.preventDefault();
        else onClick?.(event);
      }}
    >
      {pending ? <LoaderCircle size={16} className="spin" aria-hidden /> : Icon && <Icon size={16} aria-hidden />}
      {children}
    </button>
  );
}

/** A link with the look of a button. */
export const ButtonLink = ({
  tone,
  size,
  icon: Icon,
  href,
  children,
}: Look & { readonly href: string; readonly children: ReactNode }) => (
  <Link href={href} className={classOf({ tone, size }, false)}>
    {Icon && <Icon size={16} aria-hidden />}
    {children}
  </Link>
);
