def test_pages(scene):
    client = scene.client(scene.oncall)
    for url in ["/keys", f"/keys/{scene.key.pk}", "/unattributed", "/replays", f"/keys/{scene.key.pk}/replays"]:
        response = client.get(url)
        assert response.status_code == 200, (url, response.content[:500])
        open(f"/tmp/h5_{url.replace('/','_')}.html","wb").write(response.content)
    event = scene.key.events.first()
    for url in [f"/events/{event.pk}", f"/events/{event.pk}/amend", f"/events/{event.pk}/raw"]:
        response = client.get(url)
        assert response.status_code == 200, (url, response.content[:500])
    scene.decide_all()
    for url in ["/keys", f"/keys/{scene.key.pk}", f"/keys/{scene.key.pk}/replays"]:
        assert client.get(url).status_code == 200
    replay = scene.request()
    for url in ["/keys", f"/keys/{scene.key.pk}", f"/replays/{replay.pk}", "/replays", f"/replays/{replay.pk}/report", f"/replays/{replay.pk}?was=requested"]:
        assert client.get(url).status_code == 200, url
