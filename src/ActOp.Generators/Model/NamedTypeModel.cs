namespace ActOp.Generators.Model;

/// <summary>A type with its name on the wire: a grain class, or an exception that peers may name.</summary>
internal sealed record NamedTypeModel(string OpenType, string WireName);
