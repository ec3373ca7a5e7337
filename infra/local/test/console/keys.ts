import type { TestPage } from '@svc/testing/browser';

type Control = ReturnType<TestPage['locator']>;

/**
 * Uses a page with the keyboard alone. A control that Tab or the arrow keys do not reach fails the
 * test.
 */
export interface Keys {
  /** Moves the focus to a control with Tab. */
  reach(control: Control): Promise<void>;
  /** Activates a button or a link with Enter. */
  press(control: Control): Promise<void>;
  /** Replaces the text of a field. */
  fill(field: Control, text: string): Promise<void>;
  /** Changes a checkbox with the space bar. */
  toggle(checkbox: Control): Promise<void>;
  /** Chooses an option of a list by typing the beginning of its words. */
  choose(list: Control, words: string): Promise<void>;
  /** Opens a menu, moves to one of its items with the arrow keys, and activates it. */
  select(menu: Control, item: string): Promise<void>;
}

/** More than any page of the tests has controls. */
const MAX_PRESSES = 250;

export function keysOf(page: TestPage): Keys {
  const hasFocus = async (control: Control) => (await control.and(page.locator(':focus')).count()) > 0;
  const pressUntil = async (key: string, control: Control) => {
    await control.waitFor();
    for (let presses = 0; presses < MAX_PRESSES; presses += 1) {
      if (await hasFocus(control)) return;
      await page.keyboard.press(key);
    }
    throw new Error(`${key} does not reach ${control}`);
  };
  const keys: Keys = {
    reach: (control) => pressUntil('Tab', control),
    press: async (control) => {
      await keys.reach(control);
      await page.keyboard.press('Enter');
    },
    fill: async (field, text) => {
      await keys.reach(field);
      await page.keyboard.press('Control+a');
      await page.keyboard.type(text);
    },
    toggle: async (checkbox) => {
      await keys.reach(checkbox);
      await page.keyboard.press('Space');
    },
    choose: async (list, words) => {
      await keys.reach(list);
      await page.keyboard.type(words);
    },
    select: async (menu, item) => {
      await keys.press(menu);
      await pressUntil('ArrowDown', page.getByRole('menuitem', { name: item, exact: true }));
      await page.keyboard.press('Enter');
    },
  };
  return keys;
}
