using System.Net;
using ActOp.Wire;
using Orleans.Runtime;

namespace ActOp.Runtime.Routing;

/// <summary>Writes and reads node addresses.</summary>
internal static class Addresses
{
    internal static void Write(ref WireWriter writer, SiloAddress address)
    {
        Span<byte> bytes = stackalloc byte[16];
        address.Endpoint.Address.TryWriteBytes(bytes, out var length);
        writer.WriteBytes(bytes[..length]);
        writer.WriteVarUInt32((uint)address.Endpoint.Port);
        writer.WriteVarInt32(address.Generation);
    }

    internal static SiloAddress Read(ref WireReader reader)
    {
        var address = new IPAddress(reader.ReadBytes());
        var port = (int)reader.ReadVarUInt32();
        return SiloAddress.New(address, port, reader.ReadVarInt32());
    }
}
