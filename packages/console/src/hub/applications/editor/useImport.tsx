import { useMutation } from '@tanstack/react-query';
import { FileInput } from 'lucide-react';
import { type ReactNode, useCallback, useState } from 'react';
import { t } from '../../../shared/texts/texts.ts';
import { Button } from '../../../shared/ui/controls/Button.tsx';
import { hub } from '../../api.ts';
import { ImportDialog } from '../../templates/ImportDialog.tsx';
import type { ReadFile } from '../application-body.ts';

interface Import {
  /** The file that was read last. */
  readonly file: ReadFile | undefined;
  /** Distinguishes the files that the page reads one after the other. */
  readonly number: number;
  readonly button: ReactNode;
  readonly dialog: ReactNode;
  /** Forgets the file. */
  readonly clear: () => void;
}

/** Fills a form with a file of an application. */
export function useImport(): Import {
  const [{ file, number }, setFile] = useState<Pick<Import, 'file' | 'number'>>({ file: undefined, number: 0 });
  const [isOpen, setOpen] = useState(false);
  const clear = useCallback(() => setFile((before) => ({ file: undefined, number: before.number + 1 })), []);
  const read = useMutation({
    ...hub.change('readApplicationFile'),
    onSuccess: (content) => {
      setFile((before) => ({ file: content, number: before.number + 1 }));
      setOpen(false);
    },
  });
  return {
    file,
    number,
    clear,
    button: (
      <Button icon={FileInput} aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {t('Import YAML')}
      </Button>
    ),
    dialog: isOpen && (
      <ImportDialog
        about={t('An application as the commands import and export write it. Nothing is stored until you publish it.')}
        read={read}
        onClose={() => setOpen(false)}
      />
    ),
  };
}
