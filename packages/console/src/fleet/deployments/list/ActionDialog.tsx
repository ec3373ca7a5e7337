import { createSharedValue } from '../../../shared/api/shared-value.ts';
import { lazyDialog } from '../../../shared/ui/dialogs/lazy-dialog.tsx';
import type { BulkAction, SelectedDeployment } from './bulk-plan.ts';

/** Plans an action on deployments, and performs it after a confirmation. */
export const ActionDialog = lazyDialog(() => import('./BulkDialog.tsx'));

interface ChosenAction {
  readonly action: BulkAction;
  readonly deployment: SelectedDeployment;
}

/** The action that the user chose outside of a page, such as in the palette. Its plan is shown. */
export const chosenAction = createSharedValue<ChosenAction | undefined>(undefined);
