using System.Net;
using System.Text;
using ActOp.Calls;
using ActOp.Mesh;
using Orleans.Runtime;

namespace ActOp.Configuration;

/// <summary>
/// The secret of a cluster: whoever connects proves in the handshake that it knows it, and so does the other end. It is never sent. It
/// keeps strangers out; it does not encrypt, so who can change what is on the wire can take over a connection (use TLS against that).
/// Configuration section: <c>ActOp:Security</c>.
/// </summary>
public sealed class ClusterSecurityOptions
{
    /// <summary>The least length of a secret in UTF-8 bytes. It should be random: 32 random bytes in Base64 are a good one.</summary>
    public const int MinSecretBytes = 16;

    /// <summary>
    /// The secret between silos, and between clients and silos unless there is a <see cref="ClientSecret"/>. Null (default): none.
    /// </summary>
    public string? Secret { get; set; }

    /// <summary>
    /// The secret between clients and silos, so that clients need not know that of the silos. Who knows only this one is never accepted as
    /// a silo. Null (default): <see cref="Secret"/>, by a key of its own.
    /// </summary>
    public string? ClientSecret { get; set; }

    /// <summary>
    /// The secret between operators and silos: a client that proves it may look at the cluster and change it with the tool <c>actop</c>
    /// (docs/operating.md), and connects as other clients do. Another one than those of silos and clients, because whoever knows it can end
    /// every silo. In the options of a client: it connects as an operator. Null (default): nobody has that role.
    /// </summary>
    public string? OperatorSecret { get; set; }

    /// <summary>As <see cref="AcceptedSecrets"/>, for <see cref="OperatorSecret"/>.</summary>
    public IList<string> AcceptedOperatorSecrets { get; } = [];

    /// <summary>
    /// Secrets that are accepted too, but not used to connect. To replace a secret without a stop: add the new one here on all nodes, then
    /// exchange both on all nodes, then remove the old one.
    /// </summary>
    public IList<string> AcceptedSecrets { get; } = [];

    /// <summary>As <see cref="AcceptedSecrets"/>, for <see cref="ClientSecret"/>.</summary>
    public IList<string> AcceptedClientSecrets { get; } = [];

    /// <summary>
    /// The silo may listen beyond loopback with neither a secret nor TLS: every process that reaches its ports is then trusted as a silo or
    /// as a client. Only for networks in which every process is trusted. Default: no, its start fails.
    /// </summary>
    public bool AllowUnprotected { get; set; }

    /// <summary>Refuses listeners that let in whoever comes.</summary>
    /// <param name="listens">Where the silo listens, and for whom.</param>
    /// <param name="mesh">The secrets.</param>
    /// <param name="isProtected">Whether the transport asks who comes.</param>
    /// <exception cref="OrleansConfigurationException">One is beyond loopback and has no protection.</exception>
    internal void CheckListeners(
        IEnumerable<(EndPoint EndPoint, NodeKind Accepts)> listens, MeshOptions mesh, Func<EndPoint, bool> isProtected)
    {
        foreach (var (endPoint, accepts) in listens)
        {
            var secrets = accepts == NodeKind.Silo ? mesh.SiloSecrets : mesh.ClientSecrets;
            if (AllowUnprotected || secrets.Count > 0 || isProtected(endPoint)
                || endPoint is not IPEndPoint { Address: var address } || IPAddress.IsLoopback(address))
            {
                continue;
            }

            throw new OrleansConfigurationException("The silo would listen at " + endPoint + ", beyond this machine, and trust whoever"
                + " connects as a " + (accepts == NodeKind.Silo ? "silo" : "client") + ". Call UseClusterSecret or UseTls, or set"
                + " ClusterSecurityOptions.AllowUnprotected if every process that reaches it is trusted.");
        }
    }

    internal void Apply(MeshOptions mesh)
    {
        mesh.SiloSecrets = Keys(Secret, nameof(Secret), AcceptedSecrets, nameof(AcceptedSecrets));
        mesh.ClientSecrets = ClientSecret is null && AcceptedClientSecrets.Count == 0
            ? mesh.SiloSecrets
            : Keys(ClientSecret ?? Secret, nameof(ClientSecret), AcceptedClientSecrets, nameof(AcceptedClientSecrets));
        mesh.OperatorSecrets = Keys(OperatorSecret, nameof(OperatorSecret), AcceptedOperatorSecrets, nameof(AcceptedOperatorSecrets));
        if (mesh.OperatorSecrets.Any(one => mesh.SiloSecrets.Concat(mesh.ClientSecrets).Any(one.SequenceEqual)))
        {
            throw new OrleansConfigurationException("ClusterSecurityOptions." + nameof(OperatorSecret) + " is also a secret of silos or"
                + " clients: each of them could end every silo. Choose another one.");
        }
    }

    private static List<byte[]> Keys(string? first, string name, IList<string> others, string otherName)
    {
        if (first is null)
        {
            return others.Count == 0
                ? []
                : throw new OrleansConfigurationException("ClusterSecurityOptions." + otherName + " is set, but ClusterSecurityOptions."
                    + name + " is not.");
        }

        return [Key(first, name), .. others.Select(other => Key(other, otherName))];
    }

    private static byte[] Key(string secret, string name)
    {
        var bytes = Encoding.UTF8.GetBytes(secret);
        return bytes.Length >= MinSecretBytes
            ? bytes
            : throw new OrleansConfigurationException("ClusterSecurityOptions." + name + " must have at least " + MinSecretBytes
                + " bytes, but one has " + bytes.Length + ".");
    }
}

/// <summary>
/// What the clients of a silo may do beyond calling grains of the application, publishing to streams and having subscriptions of their own.
/// For silos; set the same on all of them, because each checks what it carries out. Configuration section: <c>ActOp:ClientRights</c>.
/// </summary>
public sealed class ClientRightsOptions
{
    /// <summary>
    /// Clients may manage the cluster: call <c>IManagementGrain</c> and <c>IGrainManagementExtension</c>, and see, add and end the stream
    /// subscriptions of others (<c>IStreamSubscriptionManager</c>). Without the right they get an <c>UnauthorizedAccessException</c> at
    /// once. Default: no, because whoever has it can read the keys of all grains and end activations as often as it likes. The silos of
    /// test clusters grant it.
    /// </summary>
    public bool Management { get; set; }

    /// <summary>
    /// Whether a client may call such methods; an operator has proved <see cref="ClusterSecurityOptions.OperatorSecret"/>.
    /// </summary>
    internal bool Allows(Callers callers, bool isOperator) =>
        callers == Callers.Everyone || (callers == Callers.Administrators && (Management || isOperator));
}
