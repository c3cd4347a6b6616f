using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;

namespace Orleans.Serialization.WireProtocol;

/// <summary>How a field of an application's codec is written, the top 3 bits of its tag.</summary>
public enum WireType : uint
{
    /// <summary>A number of 1 to 10 bytes.</summary>
    VarInt = 0b000 << 5,

    /// <summary>Fields until an end tag.</summary>
    TagDelimited = 0b001 << 5,

    /// <summary>A length, then so many bytes.</summary>
    LengthPrefixed = 0b010 << 5,

    /// <summary>4 bytes.</summary>
    Fixed32 = 0b011 << 5,

    /// <summary>8 bytes.</summary>
    Fixed64 = 0b100 << 5,

    /// <summary>The number of an object that was written before; 0 is null.</summary>
    Reference = 0b110 << 5,

    /// <summary>Look at <see cref="ExtendedWireType"/>.</summary>
    Extended = 0b111 << 5,
}

/// <summary>Ends of what is delimited by tags.</summary>
public enum ExtendedWireType : uint
{
    /// <summary>The end of an object.</summary>
    EndTagDelimited = 0b00 << 3,

    /// <summary>The end of the fields of a base class.</summary>
    EndBaseFields = 0b01 << 3,
}

/// <summary>How the type of a field is written.</summary>
public enum SchemaType : uint
{
    /// <summary>It is the expected one.</summary>
    Expected = 0b00 << 3,

    /// <summary>A number of the well-known types.</summary>
    WellKnown = 0b01 << 3,

    /// <summary>Its name.</summary>
    Encoded = 0b10 << 3,

    /// <summary>The number of a type whose name was written before.</summary>
    Referenced = 0b11 << 3,
}

/// <summary>The first byte of a field: wire type (3 bits), schema type (2 bits), distance to the field before (3 bits).</summary>
public struct Tag
{
    /// <summary>The bits of the wire type.</summary>
    public const byte WireTypeMask = 0b1110_0000;

    /// <summary>The bits of the schema type.</summary>
    public const byte SchemaTypeMask = 0b0001_1000;

    /// <summary>The bits of the distance.</summary>
    public const byte FieldIdMask = 0b0000_0111;

    /// <summary>All bits set: the distance follows.</summary>
    public const byte FieldIdCompleteMask = 0b0000_0111;

    /// <summary>The bits of the extended wire type.</summary>
    public const byte ExtendedWireTypeMask = 0b0001_1000;

    /// <summary>The largest distance that fits into the tag.</summary>
    public const int MaxEmbeddedFieldIdDelta = 6;

    private uint _tag;

    public Tag(byte tag) => _tag = tag;

    internal Tag(uint tag) => _tag = tag;

    public static implicit operator Tag(byte tag) => new(tag);

    public static implicit operator byte(Tag tag) => (byte)tag._tag;

    public WireType WireType
    {
        readonly get => (WireType)(_tag & WireTypeMask);
        set => _tag = (_tag & ~(uint)WireTypeMask) | ((uint)value & WireTypeMask);
    }

    public readonly bool HasExtendedWireType => _tag >= (byte)WireType.Extended;

    public ExtendedWireType ExtendedWireType
    {
        readonly get => (ExtendedWireType)(_tag & ExtendedWireTypeMask);
        set => _tag = (_tag & ~(uint)ExtendedWireTypeMask) | ((uint)value & ExtendedWireTypeMask);
    }

    public SchemaType SchemaType
    {
        readonly get => (SchemaType)(_tag & SchemaTypeMask);
        set => _tag = (_tag & ~(uint)SchemaTypeMask) | ((uint)value & SchemaTypeMask);
    }

    public readonly bool IsSchemaTypeValid => _tag < (byte)WireType.Extended;

    public uint FieldIdDelta
    {
        readonly get => _tag & FieldIdMask;
        set => _tag = (_tag & ~(uint)FieldIdMask) | (value & FieldIdMask);
    }

    public readonly bool IsFieldIdValid => (_tag & FieldIdCompleteMask) != FieldIdCompleteMask && !HasExtendedWireType;

    public readonly bool HasExtendedFieldId => (_tag & FieldIdCompleteMask) == FieldIdCompleteMask && !HasExtendedWireType;

    public void SetFieldIdInvalid() => _tag |= FieldIdCompleteMask;
}

/// <summary>The header of a field: its tag, its distance to the field before and its type if it is not the expected one.</summary>
public struct Field
{
    /// <summary>The tag.</summary>
    public Tag Tag;

    /// <summary>The distance to the field before.</summary>
    public uint FieldIdDeltaRaw;

    /// <summary>The type; null for the expected one.</summary>
    public Type? FieldTypeRaw;

    public Field(Tag tag)
    {
        Tag = tag;
        FieldIdDeltaRaw = tag.FieldIdDelta;
        FieldTypeRaw = null;
    }

    public Field(Tag tag, uint extendedFieldIdDelta, Type type)
    {
        Tag = tag;
        FieldIdDeltaRaw = extendedFieldIdDelta;
        FieldTypeRaw = type;
    }

    public readonly bool HasFieldId => Tag.WireType != WireType.Extended;

    public readonly bool HasExtendedFieldId => Tag.HasExtendedFieldId;

    public uint FieldIdDelta
    {
        readonly get => HasFieldId ? FieldIdDeltaRaw : throw new FieldIdNotPresentException();
        set
        {
            FieldIdDeltaRaw = value;
            if (value <= Tag.MaxEmbeddedFieldIdDelta)
                Tag.FieldIdDelta = value;
            else
                Tag.SetFieldIdInvalid();
        }
    }

    public Type? FieldType
    {
        readonly get => IsSchemaTypeValid ? FieldTypeRaw : throw new FieldTypeInvalidException();
        set => FieldTypeRaw = value;
    }

    public readonly bool HasExtendedSchemaType => IsSchemaTypeValid && Tag.SchemaType != SchemaType.Expected;

    public readonly bool IsSchemaTypeValid => Tag.IsSchemaTypeValid;

    public SchemaType SchemaType
    {
        readonly get => IsSchemaTypeValid ? Tag.SchemaType : throw new SchemaTypeInvalidException();
        set => Tag.SchemaType = value;
    }

    public WireType WireType
    {
        readonly get => Tag.WireType;
        set => Tag.WireType = value;
    }

    public ExtendedWireType ExtendedWireType
    {
        readonly get => WireType == WireType.Extended ? Tag.ExtendedWireType : throw new ExtendedWireTypeInvalidException();
        set => Tag.ExtendedWireType = value;
    }

    public readonly bool IsReference => Tag.WireType == WireType.Reference;

    public readonly bool IsEndBaseFields => Tag.HasExtendedWireType && Tag.ExtendedWireType == ExtendedWireType.EndBaseFields;

    public readonly bool IsEndObject => Tag.HasExtendedWireType && Tag.ExtendedWireType == ExtendedWireType.EndTagDelimited;

    public readonly bool IsEndBaseOrEndObject => Tag.HasExtendedWireType;

    /// <exception cref="UnsupportedWireTypeException">The field is written in another way.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public readonly void EnsureWireType(WireType expectedType)
    {
        if (WireType != expectedType)
            Throw(expectedType);
    }

    /// <exception cref="UnsupportedWireTypeException">The field is not an object of fields.</exception>
    public readonly void EnsureWireTypeTagDelimited() => EnsureWireType(WireType.TagDelimited);

    public override readonly string ToString() =>
        "[" + WireType + (IsSchemaTypeValid ? ", " + SchemaType : ", " + Tag.ExtendedWireType) + ", id +" + FieldIdDeltaRaw
        + (FieldTypeRaw is null ? "" : ", " + FieldTypeRaw) + "]";

    [DoesNotReturn]
    private readonly void Throw(WireType expected) => throw new UnsupportedWireTypeException(
        "A WireType value of " + expected + " is expected by this codec. " + this);
}
