// Before the first paint: says that scripts run, and tells the server the reader's time zone for the next page.
"use strict";

document.documentElement.classList.add("js");

{
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && !document.cookie.split("; ").includes(`zone=${encodeURIComponent(zone)}`)) {
    document.cookie = `zone=${encodeURIComponent(zone)}; path=/; max-age=31536000; samesite=lax`;
  }
}
