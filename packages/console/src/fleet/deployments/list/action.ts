import { createSharedValue } from '../../../shared/api/shared-value.ts';
import type { BulkAction, SelectedDeployment } from './bulk-plan.ts';

interface ChosenAction {
  readonly action: BulkAction;
  readonly deployment: SelectedDeployment;
}

/** The action that the user chose outside of a page, such as in the palette. Its plan is shown. */
export const chosenAction = createSharedValue<ChosenAction | undefined>(undefined);
