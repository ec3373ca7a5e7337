import { CheckCircle2, CircleDashed, type LucideIcon } from 'lucide-react';
import { Link } from 'wouter';
import { t } from '../../texts/texts.ts';

/** An entry of a list of first steps, with a link to the page where it is done. */
export const Step = ({
  isDone,
  icon: Icon,
  title,
  href: address,
  children,
}: {
  readonly isDone: boolean;
  readonly icon: LucideIcon;
  readonly title: string;
  readonly href: string;
  readonly children: string;
}) => (
  <li className="row-nowrap">
    {isDone ? (
      <CheckCircle2 size={18} className="text-good" aria-label={t('Done')} />
    ) : (
      <CircleDashed size={18} className="muted" aria-label={t('Open')} />
    )}
    <Icon size={18} aria-hidden className="muted" />
    <span className="grow">
      <Link href={address} className="cell-link">
        {title}
      </Link>
      <span className="muted small"> {children}</span>
    </span>
  </li>
);
