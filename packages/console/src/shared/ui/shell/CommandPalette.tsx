import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import type { LucideIcon } from 'lucide-react';
import { useDeferredValue, useState } from 'react';
import { useLocation } from 'wouter';
import { t } from '../../texts/texts.ts';

export interface Command {
  readonly label: string;
  readonly detail: string;
  readonly icon: LucideIcon;
  /**
   * What a choice does: opens the page `href`, performs `run`, or continues with the text `next` in
   * the palette.
   */
  readonly choice: { readonly href: string } | { readonly run: () => void } | { readonly next: string };
}

/**
 * Opens any page or object by name, and performs actions. `useCommands` returns what matches the
 * text: pages, actions, and the objects that the service finds.
 */
export default function CommandPalette({
  useCommands,
  onClose,
}: {
  readonly useCommands: (text: string) => readonly Command[];
  readonly onClose: () => void;
}) {
  const [text, setText] = useState('');
  // The field shows a key before the list does.
  const commands = useCommands(useDeferredValue(text));
  const [, navigate] = useLocation();
  const choose = ({ choice }: Command) => {
    if ('next' in choice) return setText(choice.next);
    onClose();
    if ('href' in choice) navigate(choice.href);
    else choice.run();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="palette-backdrop" />
        <Dialog.Popup className="palette" aria-label={t('Search or go to')}>
          <Autocomplete.Root
            open
            inline
            items={commands}
            filter={null}
            value={text}
            onValueChange={setText}
            autoHighlight="always"
            itemToStringValue={(command: Command) => command.label}
          >
            <Autocomplete.Input
              className="palette-input"
              placeholder={t('Search, or type an action such as “restart”…')}
              aria-label={t('Search pages, objects and actions')}
            />
            <Autocomplete.Empty className="menu-label">{t('Nothing matches.')}</Autocomplete.Empty>
            <Autocomplete.List className="palette-list" aria-label={t('Results')}>
              {(command: Command) => {
                const { label, detail, icon: Icon } = command;
                return (
                  <Autocomplete.Item
                    key={`${detail} ${label}`}
                    value={command}
                    className="menu-item"
                    onClick={() => choose(command)}
                  >
                    <Icon size={16} aria-hidden />
                    <span className="grow truncate">{label}</span>
                    <span className="muted small">{detail}</span>
                  </Autocomplete.Item>
                );
              }}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
