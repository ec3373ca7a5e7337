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
  readonly href: string;
}

/**
 * Opens any page or object by name. `useCommands` returns what matches the text: the pages, and the
 * objects that the service finds.
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
              placeholder={t('Search pages and objects…')}
              aria-label={t('Search pages and objects')}
            />
            <Autocomplete.Empty className="menu-label">{t('No page or object matches.')}</Autocomplete.Empty>
            <Autocomplete.List className="palette-list" aria-label={t('Results')}>
              {({ label, detail, icon: Icon, href }: Command) => (
                <Autocomplete.Item
                  key={href}
                  value={{ label, detail, icon: Icon, href }}
                  className="menu-item"
                  onClick={() => {
                    navigate(href);
                    onClose();
                  }}
                >
                  <Icon size={16} aria-hidden />
                  <span className="grow truncate">{label}</span>
                  <span className="muted small">{detail}</span>
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
