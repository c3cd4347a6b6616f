using System.Data.Common;
using System.Net;
using System.Net.Sockets;
using ActOp.Mesh;
using Orleans.Configuration;
using Orleans.Runtime;

namespace ActOp.Runtime.Cluster;

/// <summary>Why two nodes do not connect, in the words of the options that decide it. Pure.</summary>
internal static class DialFailures
{
    /// <summary>The cause of a failed dial, and the options to look at; null stands for a dial that has not ended.</summary>
    internal static string Cause(DialFailure? failure) => failure?.Reason switch
    {
        null => "no answer yet",
        DisconnectReason.WrongCluster => "it belongs to another cluster (ClusterOptions.ClusterId)",
        DisconnectReason.WrongService => "it belongs to another service (ClusterOptions.ServiceId)",
        DisconnectReason.WrongVersion => "it speaks no common version of the protocol",
        DisconnectReason.WrongRole =>
            "it is the port for nodes of the other kind: clients use EndpointOptions.GatewayPort, silos EndpointOptions.SiloPort",
        DisconnectReason.NotAuthenticated => "the two ends have different secrets, or only one of them has one (UseClusterSecret)",
        DisconnectReason.Garbage => "it does not speak this protocol, or only it uses TLS (UseTls)",
        DisconnectReason.TlsFailed => "TLS failed: " + failure.Why,
        DisconnectReason.ConnectRefused => "no process listens there",
        DisconnectReason.ConnectFailed => failure.Why ?? "the host did not answer, or this process could not dial",
        DisconnectReason.HandshakeTimeout => "it accepted the connection and did not answer in time",
        var other => other.ToString()!,
    };

    /// <summary>
    /// Whether a database has refused its user or does not know the name, in any of the exceptions: the same would be refused again.
    /// </summary>
    internal static bool IsRefusedByDatabase(Exception? exception)
    {
        for (; exception is not null; exception = exception.InnerException)
        {
            // Of the SQL standard: class 28, invalid authorization; 3D000, invalid catalog name.
            if (exception is DbException { SqlState: { } state }
                && (state.StartsWith("28", StringComparison.Ordinal) || state == "3D000"))
            {
                return true;
            }
        }

        return false;
    }
}

/// <summary>Opens the listeners of a silo. A failure names the endpoint and the options that set it.</summary>
internal static class Listening
{
    /// <exception cref="OrleansConfigurationException">The endpoint cannot be bound.</exception>
    internal static void Open(MeshNode mesh, EndPoint endPoint, NodeKind accepts)
    {
        try
        {
            mesh.Listen(endPoint, accepts);
        }
        catch (SocketException exception)
        {
            var (port, listening) = accepts == NodeKind.Silo
                ? (nameof(EndpointOptions.SiloPort), nameof(EndpointOptions.SiloListeningEndpoint))
                : (nameof(EndpointOptions.GatewayPort), nameof(EndpointOptions.GatewayListeningEndpoint));
            throw new OrleansConfigurationException("The silo cannot listen for " + (accepts == NodeKind.Silo ? "silos" : "clients")
                + " at " + endPoint + ": " + Cause(exception) + ". EndpointOptions." + port + " sets the port, and EndpointOptions."
                + listening + " or EndpointOptions.AdvertisedIPAddress the address.", exception);
        }
    }

    private static string Cause(SocketException exception) => exception.SocketErrorCode switch
    {
        SocketError.AddressAlreadyInUse => "another process uses this port",
        SocketError.AddressNotAvailable => "this machine does not have this address",
        SocketError.AccessDenied => "this process may not use this port",
        _ => exception.Message,
    };
}
