import { Menu } from '@base-ui/react/menu';
import { Languages, LogOut, type LucideIcon, Monitor, Moon, Sun, UserRound } from 'lucide-react';
import { useLocation } from 'wouter';
import { chooseLanguage, type Language, language, languages } from '../../texts/language.ts';
import { t } from '../../texts/texts.ts';
import { setTheme, type Theme, themes, useTheme } from './theme.ts';
import { UserLabel } from './UserMenu.tsx';

const themeLooks: Readonly<Record<Theme, { readonly label: string; readonly icon: LucideIcon }>> = {
  system: { label: t('Theme of the system'), icon: Monitor },
  light: { label: t('Light theme'), icon: Sun },
  dark: { label: t('Dark theme'), icon: Moon },
};

const languageNames = Object.entries(languages);

/** The menu of the user, which is open at first. */
export default function UserMenuPopup({
  name,
  detail,
  onSignOut,
}: {
  readonly name: string;
  readonly detail: string;
  readonly onSignOut: () => void;
}) {
  const theme = useTheme();
  const [, navigate] = useLocation();
  return (
    <Menu.Root defaultOpen>
      <Menu.Trigger className="user-button">
        <UserLabel name={name} detail={detail} />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="layer" side="top" align="start" sideOffset={4}>
          <Menu.Popup className="popup">
            <Menu.Item className="menu-item" onClick={() => navigate('/account')}>
              <UserRound size={16} aria-hidden />
              {t('Account and sessions')}
            </Menu.Item>
            <Menu.Separator className="menu-separator" />
            <Menu.RadioGroup value={theme} onValueChange={(value: Theme) => setTheme(value)}>
              {themes.map((one) => {
                const { label, icon: Icon } = themeLooks[one];
                return (
                  <Menu.RadioItem key={one} value={one} className="menu-item" closeOnClick>
                    <Icon size={16} aria-hidden />
                    <span className="grow">{label}</span>
                    <Menu.RadioItemIndicator>✓</Menu.RadioItemIndicator>
                  </Menu.RadioItem>
                );
              })}
            </Menu.RadioGroup>
            <Menu.Separator className="menu-separator" />
            <Menu.RadioGroup value={language} onValueChange={(value: Language) => chooseLanguage(value)}>
              {languageNames.map(([one, label]) => (
                <Menu.RadioItem key={one} value={one} className="menu-item" closeOnClick lang={one}>
                  <Languages size={16} aria-hidden />
                  <span className="grow">{label}</span>
                  <Menu.RadioItemIndicator>✓</Menu.RadioItemIndicator>
                </Menu.RadioItem>
              ))}
            </Menu.RadioGroup>
            <Menu.Separator className="menu-separator" />
            <Menu.Item className="menu-item" onClick={onSignOut}>
              <LogOut size={16} aria-hidden />
              {t('Sign out')}
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
