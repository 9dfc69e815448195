import Analytics
import JSON
import TestSupport
import Testing

/// Analytics §11 on a cluster, whose nodes apply each other's commits a moment later.
@Suite(.enabled(if: !MariaDBServer.otherNodes.isEmpty)) struct AttachmentClusterTests {
    @Test func anUploadFindsAReservationOfAnotherNode() throws {
        let app = try TestApp()
        let scene = try AnalyticsScene(app)
        let (client, other) = (app.client(), app.client(ofNode: 1))
        let bytes = Array("hello".utf8)
        try app.database.settle()
        try scene.store.prepare()
        for number in 1...100 {
            let id = try scene.reserve(other, bytes, ["client_event_id": .string(uuid(number))])
            #expect(scene.upload(client, id, bytes).status == 200)
        }
    }
}
