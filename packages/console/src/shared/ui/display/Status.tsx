import {
  Ban,
  Circle,
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleX,
  Clock,
  LoaderCircle,
  type LucideIcon,
  TriangleAlert,
} from 'lucide-react';

type Tone = 'good' | 'busy' | 'bad' | 'idle' | 'accent';

export interface StatusLook {
  readonly tone: Tone;
  readonly icon: LucideIcon;
  readonly label: string;
  readonly isMoving?: boolean;
}

/** A state by colour, shape and word. */
export const Status = ({ tone, icon: Icon, label, isMoving = false }: StatusLook) => (
  <span className={`status tone-${tone}`}>
    <Icon size={14} aria-hidden className={isMoving ? 'spin' : undefined} />
    <span>{label}</span>
  </span>
);

export const looks = {
  good: (label: string): StatusLook => ({ tone: 'good', icon: CircleCheck, label }),
  moving: (label: string): StatusLook => ({ tone: 'accent', icon: LoaderCircle, label, isMoving: true }),
  waiting: (label: string): StatusLook => ({ tone: 'busy', icon: Clock, label }),
  warning: (label: string): StatusLook => ({ tone: 'busy', icon: TriangleAlert, label }),
  bad: (label: string): StatusLook => ({ tone: 'bad', icon: CircleX, label }),
  alert: (label: string): StatusLook => ({ tone: 'bad', icon: CircleAlert, label }),
  stopped: (label: string): StatusLook => ({ tone: 'idle', icon: CirclePause, label }),
  unknown: (label: string): StatusLook => ({ tone: 'idle', icon: CircleDashed, label }),
  off: (label: string): StatusLook => ({ tone: 'idle', icon: Ban, label }),
  neutral: (label: string): StatusLook => ({ tone: 'idle', icon: Circle, label }),
};
