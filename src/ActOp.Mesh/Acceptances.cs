using ActOp.Mesh.Transports;

namespace ActOp.Mesh;

/// <summary>
/// What becomes of a connection that a listener has accepted: a link that begins its handshake, or a refusal.
/// </summary>
/// <remarks>Owns nothing: a connection is counted (<see cref="ConnectionCounts"/>) until its link has closed. Any thread.</remarks>
internal sealed class Acceptances(
    HandshakeIdentity identity, PendingHandshakes pending, MeshTables tables, Poller control, MeshReports reports, ConnectionCounts counts)
{
    /// <summary>A listener has accepted a connection.</summary>
    public void Accepted(ByteStream stream, ListenerCount listener)
    {
        if (counts.TryEnter(listener, stream) is not DisconnectReason.None and var reason)
        {
            Turn(stream, reason);
            return;
        }

        Link? link = null;
        try
        {
            link = tables.TryAddLink(stream, LinkPhase.AwaitHello, listener);
        }
        finally
        {
            if (link is null)
                counts.Leave(listener, stream);
        }

        if (link is not null)
            Begin(link);
    }

    private void Begin(Link link)
    {
        try
        {
            if (!pending.Enter(link))
            {
                link.Abort(DisconnectReason.OutOfDescriptors);
                return;
            }

            Handshakes.Send(link, identity.Greeting());
            control.Post(() => control.Attach(link), link);
        }
        catch
        {
            // The node owns the stream; the listener logs the exception and continues.
            link.Abort(DisconnectReason.InternalError);
            throw;
        }
    }

    /// <summary>Closes a connection for which there is no link, with the reason if the stream takes it at once.</summary>
    private void Turn(ByteStream stream, DisconnectReason reason)
    {
        using (stream)
        {
            var refusal = new HandshakeFrame { Kind = HandshakeKind.Refusal, Reason = reason }.Encode();
            stream.Send([.. BitConverter.GetBytes(refusal.Length), .. refusal]);
            reports.ConnectionRefused(stream.RemoteEndPoint, reason);
        }
    }
}
