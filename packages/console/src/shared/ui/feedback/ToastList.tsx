import { Toast } from '@base-ui/react/toast';
import { CircleCheck, X } from 'lucide-react';
import { useEffect } from 'react';
import { t } from '../../texts/texts.ts';

const SHOWN_MS = 5000;
const manager = Toast.createToastManager();

/** Shows the messages that `take` returns, whenever `count` changes. */
export default function ToastList({ count, take }: { readonly count: number; readonly take: () => readonly string[] }) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: `count` states that there are new messages
  useEffect(() => {
    for (const title of take()) manager.add({ title });
  }, [count, take]);
  return (
    <Toast.Provider toastManager={manager} timeout={SHOWN_MS}>
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <Messages />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function Messages() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast">
      <CircleCheck size={18} aria-hidden className="text-good" />
      <Toast.Title className="grow" render={<div />} />
      <Toast.Close className="button ghost icon small" aria-label={t('Dismiss')}>
        <X size={14} aria-hidden />
      </Toast.Close>
    </Toast.Root>
  ));
}
