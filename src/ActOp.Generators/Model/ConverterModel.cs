namespace ActOp.Generators.Model;

/// <summary>A class with [RegisterConverter] and one of its conversions.</summary>
internal sealed record ConverterModel(string Converter, string Value, string Surrogate, string WireName);
