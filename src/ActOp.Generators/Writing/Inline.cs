using ActOp.Generators.Model;

namespace ActOp.Generators.Writing;

/// <summary>Arguments of the commonest types are written without a codec, in the same form as their codecs write.</summary>
internal static class Inline
{
    public static string Write(ArgumentModel argument, string name) => argument.Primitive switch
    {
        "Boolean" => "writer.WriteByte(" + name + " ? (byte)1 : (byte)0);",
        "Byte" => "writer.WriteByte(" + name + ");",
        "Int32" => "writer.WriteVarInt32(" + name + ");",
        "UInt32" => "writer.WriteVarUInt32(" + name + ");",
        "Int64" => "writer.WriteVarInt64(" + name + ");",
        "UInt64" => "writer.WriteVarUInt64(" + name + ");",
        "Double" => "writer.WriteFixed64(global::System.BitConverter.DoubleToUInt64Bits(" + name + "));",
        "String" => "writer.WriteNullableString(" + name + ");",
        _ => "global::ActOp.Wire.Codec<" + argument.Type + ">.Default.Write(ref writer, " + name + ");",
    };

    public static string Read(ArgumentModel argument) => argument.Primitive switch
    {
        "Boolean" => "reader.ReadByte() != 0",
        "Byte" => "reader.ReadByte()",
        "Int32" => "reader.ReadVarInt32()",
        "UInt32" => "reader.ReadVarUInt32()",
        "Int64" => "reader.ReadVarInt64()",
        "UInt64" => "reader.ReadVarUInt64()",
        "Double" => "global::System.BitConverter.UInt64BitsToDouble(reader.ReadFixed64())",
        "String" => "reader.ReadNullableString()",
        _ => "global::ActOp.Wire.Codec<" + argument.Type + ">.Default.Read(ref reader)",
    };
}
