import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { t } from '../../texts/texts.ts';
import { Button } from './Button.tsx';

const SHOWN_MS = 2000;

/**
 * Copies a text to the clipboard. `action` is the accessible name of the button, and contains the
 * words that it shows.
 */
export function CopyButton({
  text,
  action,
  children,
}: {
  readonly text: string;
  readonly action: string;
  readonly children?: string;
}) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  const copy = async () => {
    const result = await navigator.clipboard.writeText(text).then(
      () => 'copied' as const,
      () => 'failed' as const,
    );
    setState(result);
    setTimeout(() => setState('idle'), SHOWN_MS);
  };
  const words = {
    idle: action,
    copied: t('Copied'),
    failed: t('Copying is not permitted. Select the text instead.'),
  };
  const icon = state === 'copied' ? Check : Copy;
  if (children === undefined)
    return <Button size="small" tone="ghost" icon={icon} label={words[state]} onClick={() => void copy()} />;
  return (
    <Button icon={icon} label={words[state]} onClick={() => void copy()}>
      {state === 'idle' ? children : words[state]}
    </Button>
  );
}
