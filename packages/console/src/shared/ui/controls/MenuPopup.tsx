import { Menu } from '@base-ui/react/menu';
import { Ellipsis } from 'lucide-react';
import type { MenuAction } from './Menu.tsx';

/** A menu of actions, which is open at first. */
export default function MenuPopup({
  label,
  actions,
}: {
  readonly label: string;
  readonly actions: readonly MenuAction[];
}) {
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger className="button ghost icon small" aria-label={label} title={label}>
        <Ellipsis size={16} aria-hidden />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="layer" sideOffset={4} align="end">
          <Menu.Popup className="popup">
            {actions.map(({ label: words, icon: Icon, onSelect, opensDialog, isDangerous, blocked, startsGroup }) => (
              <div key={words} role="presentation">
                {startsGroup && <Menu.Separator className="menu-separator" />}
                <Menu.Item
                  className={isDangerous ? 'menu-item danger' : 'menu-item'}
                  disabled={blocked !== undefined}
                  title={blocked}
                  aria-haspopup={opensDialog && 'dialog'}
                  onClick={onSelect}
                >
                  {Icon && <Icon size={16} aria-hidden />}
                  <span>
                    {words}
                    {blocked && <span className="hint"> · {blocked}</span>}
                  </span>
                </Menu.Item>
              </div>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
