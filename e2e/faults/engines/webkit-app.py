#!/usr/bin/python3
"""A small WebKitGTK browser with tabs and a profile that lasts: WebKit's own MiniBrowser forgets everything under
automation. `--data=FOLDER` is the profile, `--private` forgets it. SIGTERM: the user quits."""

import signal
import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import GLib, Gtk, WebKit2  # noqa: E402

profile = next(arg[7:] for arg in sys.argv if arg.startswith("--data="))
is_private = "--private" in sys.argv
context = WebKit2.WebContext(
    website_data_manager=WebKit2.WebsiteDataManager.new_ephemeral()
    if is_private
    else WebKit2.WebsiteDataManager(
        base_data_directory=profile + "/data", base_cache_directory=profile + "/cache"
    ),
    process_swap_on_cross_site_navigation_enabled=True,
)
if not is_private:
    context.get_cookie_manager().set_persistent_storage(
        profile + "/cookies.sqlite", WebKit2.CookiePersistentStorage.SQLITE
    )
window = Gtk.Window()
window.set_default_size(1024, 700)
tabs = Gtk.Notebook()
window.add(tabs)


def close_tab(view):
    number = tabs.page_num(view)
    # A page may ask for it twice, and GTK takes -1 for the last page.
    if number < 0:
        return
    tabs.remove_page(number)
    is_last = tabs.get_n_pages() == 0

    def destroy():
        view.destroy()
        if is_last:
            GLib.timeout_add(500, Gtk.main_quit)

    # In no hurry: the page's process would be killed while its pagehide still runs.
    GLib.timeout_add(500, destroy)


def bring_to_front(view, _title):
    # A driver can choose whom it talks to, but not whom the user looks at; so the page asks for it by its title.
    if view.get_title() == "bring me to the front":
        tabs.set_current_page(tabs.page_num(view))


def open_tab(opener=None):
    # A page may reach into the one that it has opened only if they share a process.
    view = (
        WebKit2.WebView(related_view=opener)
        if opener
        else WebKit2.WebView(web_context=context, is_controlled_by_automation=True)
    )
    settings = view.get_settings()
    settings.set_enable_page_cache(True)
    settings.set_javascript_can_open_windows_automatically(True)
    view.connect("close", close_tab)
    view.connect("notify::title", bring_to_front)
    view.connect("create", lambda opener, _action: open_tab(opener))
    tabs.append_page(view, Gtk.Label(label="tab"))
    view.show()
    tabs.set_current_page(-1)
    return view


first = open_tab()


def start_session(_context, session):
    info = WebKit2.ApplicationInfo()
    info.set_name("webkit-app")
    info.set_version(1, 0, 0)
    session.set_application_info(info)

    def create_view(_session):
        global first
        view, first = first, None
        return view or open_tab()

    session.connect("create-web-view", create_view)


def quit_app():
    # Should a page not answer.
    GLib.timeout_add(5000, Gtk.main_quit)
    for view in tabs.get_children():
        view.try_close()


GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGTERM, quit_app)
context.connect("automation-started", start_session)
context.set_automation_allowed(True)
window.show_all()
Gtk.main()
